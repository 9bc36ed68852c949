/**
 * Puts faults into a service from outside: loaded by `--import` before the service, it has certain modules of the service
 * import a wrapper where they would import the disk, the connection, the clock and a few more. The wrapper imports the real
 * module, whose address it gets in its own. So the source of the service, also that of a broken build, carries no faults.
 */

import { registerHooks } from 'node:module'
import { replacements } from './replacements.ts'

registerHooks({
  resolve(specifier, context, nextResolve) {
    const resolved = nextResolve(specifier, context)
    const { parentURL = '' } = context
    const replacement = replacements.find(
      ({ importer, target }) => parentURL.endsWith(`/${importer}`) && resolved.url.endsWith(`/${target}`),
    )
    if (replacement === undefined) return resolved
    const url = new URL(replacement.wrapper, import.meta.url)
    url.searchParams.set('real', resolved.url)
    return { ...resolved, url: url.href }
  },
})
