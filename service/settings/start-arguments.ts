/** Parses the arguments of `barograph start`. */

import { parseArgs } from 'node:util'

/**
 * `all` runs everything. With Kafka as the journal, `api` only serves requests and `forward` only forwards to QuestDB.
 */
const roles = ['all', 'api', 'forward'] as const
export type Role = (typeof roles)[number]

export class UsageError extends Error {}

/** Throws a UsageError. */
export function readStartArguments(words: readonly string[]): { isHelp: boolean; role: Role } {
  const { values, tokens } = parseArgs({
    args: [...words],
    options: { help: { type: 'boolean', short: 'h' }, role: { type: 'string', default: 'all' } },
    strict: false,
    tokens: true,
  })
  if (values.help === true) return { isHelp: true, role: 'all' }
  const other = tokens.find(token => token.kind !== 'option' || !['help', 'role'].includes(token.name))
  if (other !== undefined) {
    const word = JSON.stringify(words[other.index])
    throw new UsageError(`The service takes no arguments such as ${word}; --help lists its settings.`)
  }
  const role = roles.find(each => each === values.role)
  if (role === undefined) throw new UsageError('--role must be all, api or forward.')
  return { isHelp: false, role }
}
