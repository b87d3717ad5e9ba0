"""report_lines.py - results of tests within a program that another test runs: one line for each."""


def report(name, problem):
    print(f'{"not ok" if problem else "ok"} {name}{": " if problem else ""}{problem or ""}'.replace('\n', ' '))


def expect(name, got, wanted):
    report(name, '' if got == wanted else f'{got} and not {wanted}')


def refused(name, error, texts, call, *arguments, **words):
    """A call that raises exactly this exception, with these texts."""
    try:
        report(name, f'no error: {call(*arguments, **words)}')
    except Exception as caught:
        lost = [text for text in texts if text not in str(caught)]
        report(name, '' if type(caught) is error and not lost else f'{type(caught).__name__}: {caught}; lost {lost}')
