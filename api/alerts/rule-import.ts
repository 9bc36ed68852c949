/** Exports all rules of an account as a file, and changes them to match a file. */

import { z } from 'zod'
import type { Owner } from '../../alerts/core/outcome.ts'
import type { Rule } from '../../alerts/core/rule.ts'
import type { AlertRules } from '../../alerts/store/rules.ts'
import { type AdminOperation, operation } from '../admin/operation.ts'
import { sendProblem } from '../admin/problem.ts'
import { foreign, ownerIn, sendRefusal } from './guard-alerts.ts'
import { type FiledChannel, RuleFile, ruleFileOf, rulesOf } from './rule-file.ts'

export interface RuleImportOptions {
  alerts: { rules: AlertRules; channels: ChannelLists }
}

interface ChannelLists {
  list(who: Owner, page: Page): Promise<(FiledChannel & Owned)[]>
}

interface Owned {
  readonly id: number
  readonly owner: number | null
}

interface Page {
  after: number
  limit: number
}

const bodyBytesMax = 8 * 1024 * 1024
const pageRows = 1000

export const ImportedRules = z
  .object({ added: z.int(), changed: z.int(), unchanged: z.int(), removed: z.int() })
  .meta({ id: 'AlertRulesImported' })

const ImportQuery = z.strictObject({
  prune: z
    .enum(['0', '1'], 'must be 0 or 1')
    .default('0')
    .transform(prune => prune === '1')
    .meta({ description: '1 removes rules that are not in the file' }),
})

export function ruleFileOperations({ alerts }: RuleImportOptions): AdminOperation[] {
  return [
    operation({
      method: 'GET',
      path: '/export',
      name: 'export_alert_rules',
      summary: 'All rules of the account as a file',
      description: 'With the admin token, the rules of the service. Without ids and secrets.',
      success: { status: 200, description: 'The file', json: RuleFile.meta({ id: 'AlertRuleFile' }) },
      async handle(asked, reply) {
        const who = ownerIn(asked)
        return reply.send(ruleFileOf(await ownRules(alerts.rules, who), await ownChannels(alerts.channels, who)))
      },
    }),
    operation({
      method: 'POST',
      path: '/import',
      name: 'import_alert_rules',
      summary: 'Replace the rules of the account by the rules of a file',
      description:
        'All of the file is imported, or nothing. Names identify rules, so the same file changes nothing the second time.',
      parameters: { query: ImportQuery },
      body: { json: RuleFile.meta({ id: 'NewAlertRuleFile' }) },
      bodyBytesMax,
      success: { status: 200, description: 'Its outcome', json: ImportedRules },
      refusals: [
        'OPERATOR_ONLY',
        'NAME_TAKEN',
        'CHANNELS_UNKNOWN',
        'TOO_MANY_RULES',
        'TOO_MANY_PAIRS',
        'OUTCOME_UNKNOWN',
      ],
      async handle(asked, reply) {
        const who = ownerIn(asked)
        const read = rulesOf(asked.body, await ownChannels(alerts.channels, who))
        if (!read.ok) return sendProblem(reply, 'BODY_INVALID', { errors: read.issues })
        const refusal = foreign(read.rules, asked.principal)
        if (refusal !== undefined) return sendRefusal(reply, refusal)
        const imported = await alerts.rules.importAll(who, read.rules, asked.query.prune, asked.actor)
        return imported.ok ? reply.send(imported.value) : sendRefusal(reply, imported)
      },
    }),
  ]
}

/** The list has only the requesting account's rules, even if it may see others. */
async function ownRules(rules: AlertRules, who: Owner): Promise<Rule[]> {
  return await allOwn(who, page => rules.list(who, page))
}

async function ownChannels(channels: ChannelLists, who: Owner): Promise<FiledChannel[]> {
  return await allOwn(who, page => channels.list(who, page))
}

async function allOwn<Row extends Owned>({ account }: Owner, read: (page: Page) => Promise<Row[]>): Promise<Row[]> {
  const own: Row[] = []
  let after = 0
  for (;;) {
    const rows = await read({ after, limit: pageRows })
    own.push(...rows.filter(({ owner }) => owner === account))
    if (rows.length < pageRows) return own
    after = rows.at(-1)?.id ?? after
  }
}
