/** Rules by HTTP: a list, one rule, a new one, changes and removal. */

import { z } from 'zod'
import type { Alerts } from '../../alerts/alerts.ts'
import { NewRule, type Rule, RuleChange } from '../../alerts/core/rule.ts'
import type { AlertRules } from '../../alerts/store/rules.ts'
import { createSelection, type SelectableDevice } from '../../auth/devices/selector.ts'
import { type AdminOperation, operation } from '../admin/operation.ts'
import { sendInvalid, sendProblem } from '../admin/problem.ts'
import { deviceName, idPath, listFields, nextOf, ownerIn, sendRefusal } from './asked.ts'
import { mayRead } from './guard-alerts.ts'
import { refuseForeign } from './rule-check.ts'

export const RuleDetails = z
  .object({
    id: z.int(),
    owner: z.int().nullable().meta({ description: 'An account; null for a rule of the service' }),
    ...NewRule.shape,
    version: z.int().meta({ description: 'It grows with each change of what is evaluated' }),
    created_at: z.iso.datetime(),
    covered: z.int().nullable().meta({
      description: 'Devices on which it is evaluated; null where this process evaluates no rules, or not yet this one',
    }),
    covers_all: z.boolean().meta({
      description:
        'False where there is no room for further devices, of which there are too many of all rules together',
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
  /** By its name; undefined for one that is not there. */
  deviceOf: (name: string) => (SelectableDevice & { owner: number | null }) | undefined
  alerts: { rules: AlertRules; coverageOf: Alerts['coverageOf'] }
}

function detailsOf(rule: Rule, { coverageOf }: RuleOptions['alerts']): RuleDetails {
  const { covered = null, isWhole = true } = coverageOf(rule.id) ?? {}
  return { ...rule, covered, covers_all: isWhole }
}

export function ruleOperations(options: RuleOptions): AdminOperation[] {
  return [...reads(options), addition(options), change(options), removal(options)]
}

function reads({ alerts, deviceOf }: RuleOptions): AdminOperation[] {
  return [
    operation({
      method: 'GET',
      path: '/',
      name: 'list_alert_rules',
      summary: 'The rules, by id',
      parameters: { query: RulesQuery },
      success: { status: 200, description: 'A page of them', json: RuleList },
      async handle(asked, reply) {
        const { limit, device: name } = asked.query
        const who = ownerIn(asked)
        const list = (page: RulePage) => alerts.rules.list(who, page)
        const device = name === undefined ? undefined : deviceOf(name)
        // What somebody may not read is as one that is not there.
        const readable = device !== undefined && mayRead(asked.principal, device) ? device : undefined
        const found = await (name === undefined ? list(asked.query) : rulesOf(readable, list, asked.query))
        return reply.send({ rules: found.map(rule => detailsOf(rule, alerts)), next: nextOf(found, limit) })
      },
    }),
    operation({
      method: 'GET',
      path: '/:id',
      name: 'get_alert_rule',
      summary: 'One rule',
      parameters: { path: idPath },
      pathError: 'RULE_UNKNOWN',
      success: { status: 200, description: 'The rule', json: RuleDetails },
      refusals: ['RULE_UNKNOWN'],
      async handle(asked, reply) {
        const rule = await alerts.rules.get(ownerIn(asked), asked.path.id)
        return rule === undefined ? sendProblem(reply, 'RULE_UNKNOWN') : reply.send(detailsOf(rule, alerts))
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

function addition({ alerts }: RuleOptions): AdminOperation {
  return operation({
    method: 'POST',
    path: '/',
    name: 'add_alert_rule',
    summary: 'Add a rule',
    description: 'It is of the account that asks, or with the admin token of the service.',
    body: { json: NewRuleBody },
    success: { status: 201, description: 'The rule', json: RuleDetails },
    refusals: [
      'OPERATOR_ONLY',
      'NAME_TAKEN',
      'CHANNELS_UNKNOWN',
      'TOO_MANY_RULES',
      'TOO_MANY_PAIRS',
      'OUTCOME_UNKNOWN',
    ],
    async handle(asked, reply) {
      const { body, actor, principal } = asked
      const refusal = refuseForeign(reply, [body], principal)
      if (refusal !== undefined) return refusal
      const added = await alerts.rules.add(ownerIn(asked), body, actor)
      if (!added.ok) return sendRefusal(reply, added)
      return reply
        .code(201)
        .header('location', `/api/alert-rules/${added.value.id}`)
        .send(detailsOf(added.value, alerts))
    },
  })
}

function change({ alerts }: RuleOptions): AdminOperation {
  return operation({
    method: 'PATCH',
    path: '/:id',
    name: 'change_alert_rule',
    summary: 'Change a rule',
    description:
      'What fires by it goes on until the next observation, or ends where its device is not covered any more.',
    parameters: { path: idPath },
    pathError: 'RULE_UNKNOWN',
    body: { json: RuleChangeBody },
    success: { status: 200, description: 'The changed rule', json: RuleDetails },
    refusals: [
      'RULE_UNKNOWN',
      'RULE_INVALID',
      'OPERATOR_ONLY',
      'NAME_TAKEN',
      'CHANNELS_UNKNOWN',
      'TOO_MANY_PAIRS',
      'OUTCOME_UNKNOWN',
    ],
    async handle(asked, reply) {
      const { body, path, actor, principal } = asked
      const who = ownerIn(asked)
      const present = await alerts.rules.get(who, path.id)
      if (present === undefined) return sendProblem(reply, 'RULE_UNKNOWN')
      const { id: _id, owner: _owner, version: _version, created_at: _created, ...fields } = present
      // Some fields depend on others.
      const whole = NewRule.safeParse({ ...fields, ...body })
      if (!whole.success) return sendInvalid(reply, 'BODY_INVALID', whole.error)
      const rule = whole.data
      const refusal = refuseForeign(reply, [present, rule], principal)
      if (refusal !== undefined) return refusal
      const changed = await alerts.rules.change(who, path.id, body, actor)
      return changed.ok ? reply.send(detailsOf(changed.value, alerts)) : sendRefusal(reply, changed)
    },
  })
}

function removal({ alerts: { rules } }: RuleOptions): AdminOperation {
  return operation({
    method: 'DELETE',
    path: '/:id',
    name: 'remove_alert_rule',
    summary: 'Remove a rule',
    description: 'What fires by it is resolved.',
    parameters: { path: idPath },
    pathError: 'RULE_UNKNOWN',
    success: { status: 204, description: 'It is removed' },
    refusals: ['RULE_UNKNOWN', 'OPERATOR_ONLY', 'OUTCOME_UNKNOWN'],
    async handle(asked, reply) {
      const { path, actor, principal } = asked
      const who = ownerIn(asked)
      const present = await rules.get(who, path.id)
      const refusal = present && refuseForeign(reply, [present], principal)
      if (refusal !== undefined) return refusal
      const removed = await rules.remove(who, path.id, actor)
      return removed.ok ? reply.code(204).send() : sendRefusal(reply, removed)
    },
  })
}
