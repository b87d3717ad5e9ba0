"""report_lines.py - prints one line for each result, in a program that a test runs."""


def report(name, problem):
    print(f'{"not ok" if problem else "ok"} {name}{": " if problem else ""}{problem or ""}'.replace('\n', ' '))


def expect(name, got, wanted):
    report(name, '' if got == wanted else f'{got} and not {wanted}')


def refused(name, error, texts, call, *arguments, **words):
    """Makes a call that must raise exactly this exception, with these texts in its message."""
    try:
        report(name, f'no error: {call(*arguments, **words)}')
    except Exception as caught:
        lost = [text for text in texts if text not in str(caught)]
        report(name, '' if type(caught) is error and not lost else f'{type(caught).__name__}: {caught}; lost {lost}')
