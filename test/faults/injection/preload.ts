/**
 * Injects faults into a service from outside. Loaded by `--import` before the service, it replaces imports by wrappers
 * (replacements.ts). So the source has no faults, also in a broken build.
 */

import { registerHooks } from 'node:module'
import { replacements } from './replacements.ts'

registerHooks({
  resolve(specifier, context, nextResolve) {
    const resolved = nextResolve(specifier, context)
    const { parentURL = '' } = context
    const names = replacements.find(
      ([importer, target]) => parentURL.endsWith(`/${importer}`) && resolved.url.endsWith(`/${target}`),
    )?.[2]
    return names === undefined ? resolved : { ...resolved, url: `${resolved.url}?wrapped=${names}` }
  },
  load(url, context, nextLoad) {
    const [real = '', names] = url.split('?wrapped=')
    if (names === undefined) return nextLoad(url, context)
    const wrapped = names.split(',').map(name => `export const ${name} = wrappers.${name}(real)`)
    const source = [
      `import * as real from '${real}'`,
      `import { wrappers } from '${new URL('wrappers.ts', import.meta.url)}'`,
      `export * from '${real}'`,
      ...wrapped,
    ].join('\n')
    return { format: 'module', source, shortCircuit: true }
  },
})
