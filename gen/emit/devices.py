"""Emits the list from which a build learns of device functions that kernel files define for one another."""

import json


def emit_devices(files):
    """Returns a JSON object with the functions, and with a map from each file that shares an image to the file that
    holds it (both as stems); '' if there are no functions."""
    functions = [{'file': f.stem, 'name': d.name, 'parameters': d.parameters, 'signature': d.signature,
                  'numba': d.numba, 'is_defined': d.is_defined, 'has_host': d.has_host,
                  'place': f'{d.location.file}:{d.location.line}:{d.location.column}'}
                 for f in files for d in f.devices]
    images = {f.stem: f.image_of for f in files if f.image_of}
    return json.dumps({'functions': functions, 'images': images}, indent=1) + '\n' if functions else ''
