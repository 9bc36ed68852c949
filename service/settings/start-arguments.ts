/** The arguments of `barograph start`. */

import { parseArgs } from 'node:util'

/** What a process does: everything, or, with Kafka as the journal, requests alone or forwarding to QuestDB alone. */
const roles = ['all', 'api', 'forward'] as const
export type Role = (typeof roles)[number]

/** A sentence about what was given. */
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
