"""Emits what a build has to know of device functions that kernel files define for one another."""

import json


def emit_devices(files):
    """Lists the functions, and the files that share an image by the stem of the first one; '' if there are none."""
    functions = [{'file': f.stem, 'name': d.name, 'parameters': d.parameters, 'signature': d.signature,
                  'numba': d.numba, 'is_defined': d.is_defined, 'has_host': d.has_host,
                  'place': f'{d.location.file}:{d.location.line}:{d.location.column}'}
                 for f in files for d in f.devices]
    images = {f.stem: f.image_of for f in files if f.image_of}
    return json.dumps({'functions': functions, 'images': images}, indent=1) + '\n' if functions else ''
