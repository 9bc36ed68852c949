/** The evaluated rules, the devices of each, and the changes of both. */

import { metricOf } from '../core/condition.ts'
import type { AlertDevices } from '../core/devices.ts'
import type { Rule } from '../core/rule.ts'
import type { EngineRun } from './engine-run.ts'
import { RuleCoverage } from './rule-coverage.ts'

export interface KnownRulesOptions {
  readonly devices: AlertDevices
  readonly readRules: () => Promise<readonly Rule[]>
  /** Changes of the present rules. It shows missed notifications. */
  readonly readVersions: () => Promise<readonly { id: number; version: number; enabled: boolean }[]>
  /** Loads the data that `devices.mayRead` needs of an account. Resolves to a text that changes with it. */
  readonly learnOwner: (account: number) => Promise<string>
  readonly pairsMax?: number
  readonly pairsPerOwner?: number
  readonly signal: AbortSignal
}

/** Follows changes. */
export type RuleFollower = Pick<EngineRun, 'setRule' | 'removeRule' | 'coverageChanged' | 'refresh'>

const versionsEveryMs = 60_000
/** Devices whose cadence is posted again in a second. */
const devicesPerLook = 5000

export class KnownRules {
  readonly #options: KnownRulesOptions
  /** Undefined while nothing is evaluated. */
  readonly #follower: () => RuleFollower | undefined
  readonly #rules = new Map<number, Rule>()
  /** Devices that the owner of a rule could read at the selection. */
  readonly #readBy = new Map<number, string>()
  #coverage: RuleCoverage
  #hasChanged = true
  #versionsMs = 0
  /** Position of the periodic check of rules. */
  readonly #next = { rule: 0, device: 0 }

  constructor(options: KnownRulesOptions, follower: () => RuleFollower | undefined) {
    this.#options = options
    this.#follower = follower
    this.#coverage = new RuleCoverage(options.devices, options)
    options.devices.onChange((device, isRemoved) => {
      for (const [id, change] of this.#coverage.deviceChanged(device, isRemoved)) {
        this.#follower()?.coverageChanged(this.#rules.get(id) as Rule, change)
      }
    })
  }

  get rules(): ReadonlyMap<number, Rule> {
    return this.#rules
  }

  get coverage(): RuleCoverage {
    return this.#coverage
  }

  /** They are to be read again. */
  changed(): void {
    this.#hasChanged = true
  }

  /** Another process may change them from now on. */
  forget(): void {
    this.#rules.clear()
    this.#coverage = new RuleCoverage(this.#options.devices, this.#options)
    this.#hasChanged = true
  }

  /** Reads changed rules. */
  async look(): Promise<void> {
    await this.#lookForChanges()
    if (this.#hasChanged) await this.#read()
  }

  async #lookForChanges(): Promise<void> {
    const now = performance.now()
    if (this.#hasChanged || now - this.#versionsMs < versionsEveryMs) return
    this.#versionsMs = now
    const versions = (await this.#options.readVersions()).filter(({ enabled }) => enabled)
    const isSame = versions.every(({ id, version }) => this.#rules.get(id)?.version === version)
    this.#hasChanged ||= !isSame || versions.length !== this.#rules.size
  }

  async #read(): Promise<void> {
    this.#hasChanged = false
    try {
      const rules = new Map((await this.#options.readRules()).map(rule => [rule.id, rule]))
      if (this.#options.signal.aborted) return
      for (const [id] of this.#rules) {
        const rule = rules.get(id)
        if (rule === undefined || !rule.enabled) this.#remove(id, rule === undefined ? 'rule_removed' : 'rule_disabled')
      }
      for (const rule of rules.values()) if (rule.enabled) await this.#set(rule)
    } catch (error) {
      this.#hasChanged = true
      throw error
    }
  }

  #remove(id: number, reason: 'rule_removed' | 'rule_disabled' | 'rule_changed'): void {
    this.#coverage.removeRule(id)
    this.#rules.delete(id)
    this.#readBy.delete(id)
    this.#follower()?.removeRule(id, reason)
  }

  async #set(rule: Rule): Promise<void> {
    const before = this.#rules.get(rule.id)
    if (before !== undefined && JSON.stringify(before) === JSON.stringify(rule)) return
    if (before !== undefined && !isAlike(before, rule)) this.#remove(rule.id, 'rule_changed')
    if (rule.owner !== null) this.#readBy.set(rule.id, await this.#options.learnOwner(rule.owner))
    // A selection of many devices takes some milliseconds.
    await new Promise(resolve => setImmediate(resolve))
    this.#rules.set(rule.id, rule)
    const change = this.#coverage.setRule(rule)
    this.#follower()?.setRule(rule, change)
  }

  /** One rule at a time, since permissions of owners and cadences of devices change without a notice. */
  async selectAgain(): Promise<void> {
    const ids = [...this.#rules.keys()]
    const id = ids[this.#next.rule % ids.length]
    if (id === undefined) return
    const rule = this.#rules.get(id) as Rule
    if (this.#next.device === 0 && !(await this.#select(rule))) return
    const devices = this.#coverage.someOf(id, this.#next.device, devicesPerLook)
    this.#follower()?.refresh(rule, devices)
    this.#next.device += devicesPerLook
    if (devices.length === devicesPerLook) return
    this.#next.device = 0
    this.#next.rule++
  }

  /** False where it has gone meanwhile. */
  async #select(rule: Rule): Promise<boolean> {
    const { id, owner } = rule
    const follower = this.#follower()
    const readable = owner === null ? '' : await this.#options.learnOwner(owner)
    if (this.#rules.get(id) !== rule || this.#follower() !== follower) return false
    // There may be room for more pairs.
    const isStale = (this.#readBy.get(id) ?? '') !== readable || this.#coverage.of(id)?.isWhole === false
    if (isStale) follower?.coverageChanged(rule, this.#coverage.setRule(rule))
    this.#readBy.set(id, readable)
    return true
  }
}

/** True where alerts of one rule may continue under the other. */
function isAlike(a: Rule, b: Rule): boolean {
  return a.condition.kind === b.condition.kind && metricOf(a.condition) === metricOf(b.condition) && a.owner === b.owner
}
