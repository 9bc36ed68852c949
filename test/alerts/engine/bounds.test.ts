/** The limits of pairs for an owner, and of pending observations. */

import { test } from 'tap'
import type { AlertDevice, AlertDevices } from '../../../alerts/core/devices.ts'
import { NewRule, type Rule } from '../../../alerts/core/rule.ts'
import { ReadingIntake } from '../../../alerts/engine/packed-readings.ts'
import { RuleCoverage } from '../../../alerts/engine/rule-coverage.ts'

const administrator = 99
const condition = { kind: 'silent' }

function fleetOf(count: number, administrators: ReadonlySet<number> = new Set([administrator])): AlertDevices {
  const names = { symbol: '', location_short: '', tags: [], owner: null, log_switch: true }
  const devices = Array.from({ length: count }, (_, at): AlertDevice => {
    return { ...names, number: at + 1, name: `d${at + 1}` }
  })
  return {
    all: () => devices,
    byNumber: number => devices[number - 1],
    onChange: () => undefined,
    mayRead: () => true,
    isAdministrator: owner => owner === null || administrators.has(owner),
    seriesOf: () => undefined,
    qualityOf: () => undefined,
  }
}

let lastId = 0
function ruleOf(owner: number | null, devices: readonly string[] | 'all' = 'all'): Rule {
  const selector = devices === 'all' ? { all: true } : { devices }
  const rule = NewRule.parse({ name: 'a rule', selector, condition })
  return { ...rule, id: ++lastId, owner, version: 1, created_at: '' }
}

test('accounts together leave capacity for administrators and the service', t => {
  const coverage = new RuleCoverage(fleetOf(10), { pairsMax: 100, pairsPerOwner: 20 })
  for (const owner of [1, 2, 3, 4, 5, 6]) {
    for (const first of [ruleOf(owner), ruleOf(owner)]) coverage.setRule(first)
  }
  t.equal(coverage.pairCount, 90, 'a tenth is kept')
  const late = ruleOf(7, ['d1'])
  t.notOk(coverage.hasRoomFor(late, undefined))
  const own = ruleOf(administrator)
  t.ok(coverage.hasRoomFor(own, undefined), 'an administrator’s rule has room')
  t.strictSame(coverage.setRule(own).added.length, 10)
  t.notOk(coverage.hasRoomFor(ruleOf(null), undefined), 'up to the bound of all rules')
  t.end()
})

test('an account has no more pairs than its limit, with a count of uncovered ones', t => {
  const coverage = new RuleCoverage(fleetOf(10), { pairsMax: 1000, pairsPerOwner: 15 })
  const [first, second, named] = [ruleOf(1), ruleOf(1), ruleOf(1, ['d3'])]
  coverage.setRule(first)
  t.notOk(coverage.hasRoomFor(second, undefined))
  t.ok(coverage.hasRoomFor(second, first.id), 'in place of another one')
  t.ok(coverage.hasRoomFor(ruleOf(2), undefined), 'of another account')
  const others = ruleOf(2)
  coverage.setRule(others)
  t.notOk(coverage.hasRoomFor(ruleOf(1), others.id), 'in place of one of another account')
  coverage.setRule(second)
  coverage.setRule(named)
  t.strictSame(coverage.of(second.id), { covered: 5, isWhole: false })
  t.strictSame(coverage.partialRules(), [second.id, named.id])
  coverage.removeRule(first.id)
  coverage.setRule(second)
  coverage.setRule(named)
  t.strictSame(coverage.partialRules(), [], 'when there is room again')
  t.end()
})

test('names of missing devices have the limits of pairs', t => {
  const coverage = new RuleCoverage(fleetOf(1), { pairsMax: 100, pairsPerOwner: 20 })
  const names = Array.from({ length: 15 }, (_, at) => `none ${at}`)
  const first = ruleOf(1, names)
  coverage.setRule(first)
  t.notOk(coverage.hasRoomFor(ruleOf(1, names), undefined))
  t.ok(coverage.hasRoomFor(ruleOf(1, names), first.id), 'in place of another one')
  for (const owner of [2, 3, 4, 5, 6]) coverage.setRule(ruleOf(owner, names))
  t.notOk(coverage.hasRoomFor(ruleOf(7, names), undefined), 'a tenth is kept')
  t.notOk(coverage.hasRoomFor(ruleOf(null, names), undefined))
  t.ok(coverage.hasRoomFor(ruleOf(null, names.slice(5)), undefined))
  t.end()
})

test('an account promoted to administrator frees its capacity, and takes it again when demoted', t => {
  const administrators = new Set<number>()
  const coverage = new RuleCoverage(fleetOf(10, administrators), { pairsMax: 50, pairsPerOwner: 40 })
  const first = ruleOf(1)
  for (const rule of [first, ruleOf(1), ruleOf(2), ruleOf(2)]) coverage.setRule(rule)
  t.notOk(coverage.hasRoomFor(ruleOf(3), undefined))
  for (const change of ['add', 'delete'] as const) {
    administrators[change](1)
    coverage.setRule(first)
    t.equal(coverage.hasRoomFor(ruleOf(3), undefined), change === 'add')
  }
  t.end()
})

test('a device may be covered by more than 65,535 rules', t => {
  const coverage = new RuleCoverage(fleetOf(1))
  const first = ruleOf(null)
  const rules = Array.from({ length: 65_536 }, (_, at) => ({ ...first, id: first.id + at }))
  for (const rule of rules) coverage.setRule(rule)
  t.ok(coverage.covers(1))
  t.equal(coverage.pairCount, 65_536)
  for (const { id } of rules.slice(1)) coverage.removeRule(id)
  t.ok(coverage.covers(1))
  coverage.removeRule(rules[0]?.id ?? 0)
  t.notOk(coverage.covers(1))
  t.end()
})

function readings(count: number, customCount: number) {
  let left = count
  const custom = { customCount, customSeries: (place: number) => place, customValue: () => 1 }
  return { next: () => left-- > 0, series: 1, timeUs: 1, value: () => 1, ...custom }
}

test('pending readings are limited by their bytes, with any contents', t => {
  const intake = new ReadingIntake(72_000)
  const add = (count: number, customCount: number) => intake.add(readings(count, customCount), 1, () => true)
  add(990, 0)
  t.equal(intake.dropped, 0)
  add(1, 100)
  t.equal(intake.dropped, 1, 'one with many values does not fit')
  t.ok(intake.takeDropped())
  const lots = [...intake.take()]
  t.equal(lots.length, 1)
  add(20, 0)
  t.equal(intake.dropped, 11, 'those that are on their way count')
  intake.answered(0)
  add(1, 0)
  t.equal(intake.dropped, 12, 'an empty lot gives nothing back')
  intake.answered(lots[0]?.byteLength ?? 0)
  add(900, 0)
  t.equal(intake.dropped, 12)
  t.end()
})
