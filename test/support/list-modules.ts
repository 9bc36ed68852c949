/** Preloaded by a test: at its end, the process lists the files that it has loaded as modules on its standard error. */

import { registerHooks } from 'node:module'

const loaded: string[] = []
registerHooks({
  load(url, context, nextLoad) {
    loaded.push(url)
    return nextLoad(url, context)
  },
})
process.on('exit', () => process.stderr.write(loaded.join('\n')))
