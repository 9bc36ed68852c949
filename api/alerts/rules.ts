/** Serves rules: lists, reads, adds, changes and removes. */

import { z } from 'zod'
import type { Alerts } from '../../alerts/alerts.ts'
import { refused } from '../../alerts/core/outcome.ts'
import { NewRule, type Rule, RuleChange } from '../../alerts/core/rule.ts'
import type { AlertRules } from '../../alerts/store/rules.ts'
import { createSelection, type SelectableDevice } from '../../auth/devices/selector.ts'
import type { AdminOperation } from '../admin/operation.ts'
import { issuesOf } from '../admin/problem.ts'
import { recordOperations } from '../admin/record-operations.ts'
import { byId, deviceName, foreign, listFields, mayRead, nextOf, ownerIn, sendRefusal } from './guard-alerts.ts'

export const RuleDetails = z
  .object({
    id: z.int(),
    owner: z.int().nullable().meta({ description: 'An account; null for a rule of the service' }),
    ...NewRule.shape,
    version: z.int().meta({ description: 'Increases with each change of the evaluated condition' }),
    created_at: z.iso.datetime(),
    covered: z.int().nullable().meta({
      description: 'Devices on which it is evaluated; null where this process evaluates no rules, or not yet this one',
    }),
    covers_all: z.boolean().meta({
      description: 'False when the rules together cover too many devices, so that more cannot be added',
    }),
  })
  .meta({ id: 'AlertRule' })
export type RuleDetails = z.infer<typeof RuleDetails>

export const RuleList = z
  .object({ rules: z.array(RuleDetails), next: z.int().nullable() })
  .meta({ id: 'AlertRuleList' })
export const NewRuleBody = NewRule.meta({ id: 'NewAlertRule' })
const RuleChangeBody = RuleChange.refine(
  change => Object.keys(change).length > 0,
  'must name at least one field to change',
).meta({
  id: 'AlertRuleChange',
  minProperties: 1,
})

const RulesQuery = z.strictObject({
  ...listFields,
  device: deviceName.optional().meta({ description: 'The name of a device: only rules whose selector means it' }),
})

export interface RuleOptions {
  /** Finds a device by its name; undefined if it does not exist. */
  deviceOf: (name: string) => (SelectableDevice & { owner: number | null }) | undefined
  alerts: { rules: AlertRules; coverageOf: Alerts['coverageOf'] }
}

function detailsOf(rule: Rule, { coverageOf }: RuleOptions['alerts']): RuleDetails {
  const { covered = null, isWhole = true } = coverageOf(rule.id) ?? {}
  return { ...rule, covered, covers_all: isWhole }
}

const { list, one, addition, change, removal } = recordOperations({
  ...byId,
  prefix: '/api/alert-rules',
  unknown: 'RULE_UNKNOWN',
  refuse: sendRefusal,
})

export function ruleOperations(options: RuleOptions): AdminOperation[] {
  const shown = (rule: Rule) => detailsOf(rule, options.alerts)
  return [...reads(options, shown), ...changes(options.alerts.rules, shown)]
}

function reads({ alerts: { rules }, deviceOf }: RuleOptions, shown: (rule: Rule) => RuleDetails): AdminOperation[] {
  return [
    list({
      name: 'list_alert_rules',
      summary: 'The rules, by id',
      query: RulesQuery,
      answer: 'A page of them',
      json: RuleList,
      async read(asked) {
        const { limit, device: name } = asked.query
        const who = ownerIn(asked)
        const read = (page: RulePage) => rules.list(who, page)
        const device = name === undefined ? undefined : deviceOf(name)
        // An unreadable device is reported as missing.
        const readable = device !== undefined && mayRead(asked.principal, device) ? device : undefined
        const found = await (name === undefined ? read(asked.query) : rulesOf(readable, read, asked.query))
        return { rules: found.map(shown), next: nextOf(found, limit) }
      },
    }),
    one({
      name: 'get_alert_rule',
      summary: 'One rule',
      answer: 'The rule',
      json: RuleDetails,
      async read(asked) {
        const rule = await rules.get(ownerIn(asked), asked.path.id)
        return rule && shown(rule)
      },
    }),
  ]
}

type RulePage = Parameters<AlertRules['list']>[1]

const rulesPerRead = 1000

async function rulesOf(
  device: SelectableDevice | undefined,
  list: (page: RulePage) => Promise<Rule[]>,
  { after, limit }: RulePage,
): Promise<Rule[]> {
  const found: Rule[] = []
  let page: Rule[] = []
  do {
    page = device === undefined ? [] : await list({ after: page.at(-1)?.id ?? after, limit: rulesPerRead })
    for (const rule of page) {
      const isMeant = rule.selector !== null && device !== undefined && createSelection(rule.selector)(device)
      if (isMeant && found.length < limit) found.push(rule)
    }
  } while (page.length === rulesPerRead && found.length < limit)
  return found
}

function changes(rules: AlertRules, shown: (rule: Rule) => RuleDetails): AdminOperation[] {
  return [
    addition({
      name: 'add_alert_rule',
      summary: 'Add a rule',
      description: 'It belongs to the requesting account, or with the admin token to the service.',
      body: NewRuleBody,
      answer: 'The rule',
      json: RuleDetails,
      refusals: ['OPERATOR_ONLY', 'NAME_TAKEN', 'CHANNELS_UNKNOWN', 'TOO_MANY_RULES', 'TOO_MANY_PAIRS'],
      async run(asked) {
        const { body, actor, principal } = asked
        const refusal = foreign([body], principal)
        return refusal ?? (await rules.add(ownerIn(asked), body, actor))
      },
      shown,
    }),
    change({
      name: 'change_alert_rule',
      summary: 'Change a rule',
      description: 'Firing alerts continue until the next observation, or end if their device is no longer covered.',
      body: RuleChangeBody,
      answer: 'The changed rule',
      json: RuleDetails,
      refusals: ['RULE_INVALID', 'OPERATOR_ONLY', 'NAME_TAKEN', 'CHANNELS_UNKNOWN', 'TOO_MANY_PAIRS'],
      async run(asked) {
        const { body, path, actor, principal } = asked
        const who = ownerIn(asked)
        const present = await rules.get(who, path.id)
        if (present === undefined) return refused('RULE_UNKNOWN')
        const { id: _id, owner: _owner, version: _version, created_at: _created, ...fields } = present
        // Some fields depend on others.
        const whole = NewRule.safeParse({ ...fields, ...body })
        if (!whole.success) return { ok: false, code: 'BODY_INVALID', errors: issuesOf(whole.error) }
        const rule = whole.data
        const refusal = foreign([present, rule], principal)
        return refusal ?? (await rules.change(who, path.id, body, actor))
      },
      shown,
    }),
    removal({
      name: 'remove_alert_rule',
      summary: 'Remove a rule',
      description: 'Its firing alerts are resolved.',
      answer: 'It is removed',
      refusals: ['OPERATOR_ONLY'],
      async run(asked) {
        const { path, actor, principal } = asked
        const who = ownerIn(asked)
        const present = await rules.get(who, path.id)
        return (present && foreign([present], principal)) ?? (await rules.remove(who, path.id, actor))
      },
    }),
  ]
}
