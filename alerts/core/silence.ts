/** Silences: for a time, or in weekly windows of the service's time zone, alerts fire without notifications. */

import { z } from 'zod'
import { createSelection, type SelectableDevice, Selector } from '../../auth/devices/selector.ts'
import { plainText } from '../../store/plain-text.ts'

const clock = z.string().regex(/^(?:[01]\d|2[0-3]):[0-5]\d$/, 'must be a time as 06:30')
const windowsMax = 21

export const WeeklyWindow = z
  .strictObject({
    days: z.array(z.int().min(1).max(7)).min(1).max(7).meta({ description: '1 is Monday, 7 is Sunday' }),
    from: clock,
    until: clock,
  })
  .meta({ description: 'Ends on the next day where `until` is not after `from`' })
export type WeeklyWindow = z.infer<typeof WeeklyWindow>

const WeeklyWindows = z.array(WeeklyWindow).min(1).max(windowsMax)

const minuteMs = 60_000
const dayMs = 86_400_000

/** `localMs`: the moment that the local clock shows, as if it were UTC. */
export function isInWindows(windows: readonly WeeklyWindow[], localMs: number): boolean {
  const day = Math.floor(localMs / dayMs)
  const minute = Math.floor((localMs - day * dayMs) / minuteMs)
  return windows.some(window => isInWindow(window, weekday(day), minute))
}

function isInWindow({ days, from, until }: WeeklyWindow, day: number, minute: number): boolean {
  const fromMinute = minuteOf(from)
  const untilMinute = minuteOf(until)
  if (fromMinute < untilMinute) return days.includes(day) && minute >= fromMinute && minute < untilMinute
  const dayBefore = day === 1 ? 7 : day - 1
  return (days.includes(day) && minute >= fromMinute) || (days.includes(dayBefore) && minute < untilMinute)
}

/** The weekday of a day number. Day 0 was a Thursday. */
function weekday(day: number): number {
  return ((((day + 3) % 7) + 7) % 7) + 1
}

function minuteOf(text: string): number {
  return Number(text.slice(0, 2)) * 60 + Number(text.slice(3))
}

const time = z.iso.datetime({ offset: true })
const reasonMax = 256

export const NewSilence = z
  .strictObject({
    selector: Selector,
    rule_id: z.int().min(1).nullable().default(null).meta({ description: 'Only alerts of this rule' }),
    from: time.optional().meta({ description: 'Without it, from now on' }),
    until: time.nullable().default(null).meta({ description: 'May be left out with weekly windows' }),
    weekly: WeeklyWindows.nullable().default(null).meta({ description: 'In the time zone of the service' }),
    reason: plainText({ max: reasonMax }).default(''),
  })
  .superRefine(({ from, until, weekly }, context) => {
    if (until === null && weekly === null) {
      context.addIssue({ code: 'custom', path: ['until'], message: 'must be there without weekly windows' })
    }
    if (from !== undefined && until !== null && Date.parse(until) <= Date.parse(from)) {
      context.addIssue({ code: 'custom', path: ['until'], message: 'must be later than from' })
    }
  })
export type NewSilence = z.infer<typeof NewSilence>

export const Silence = z.object({
  id: z.int(),
  selector: Selector,
  rule_id: z.int().nullable(),
  from: z.iso.datetime(),
  until: z.iso.datetime().nullable(),
  weekly: WeeklyWindows.nullable(),
  reason: z.string(),
  created_by: z.string(),
  created_at: z.iso.datetime(),
  is_active: z.boolean().meta({ description: 'Whether it silences at present' }),
})
export type Silence = z.infer<typeof Silence>

/** Difference of the local clock to UTC at a moment, both in milliseconds. */
export type OffsetMs = (timeMs: number) => number

/** The fields of a silence that decide. */
export interface Silencing {
  id: number
  /** Null: of administrators, for alerts of all rules. */
  owner: number | null
  selector: Selector
  ruleId: number | null
  fromMs: number
  /** Infinity: without an end. */
  untilMs: number
  weekly: readonly WeeklyWindow[] | null
}

export function isActive(
  { fromMs, untilMs, weekly }: Omit<Silencing, 'id' | 'owner' | 'selector' | 'ruleId'>,
  atMs: number,
  offsetMs: OffsetMs,
): boolean {
  if (atMs < fromMs || atMs >= untilMs) return false
  return weekly === null || isInWindows(weekly, atMs + offsetMs(atMs))
}

/** Returns the end of an active silence or the horizon, whichever is sooner. */
function endMs(silence: Silencing, nowMs: number, horizonMs: number, offsetMs: OffsetMs): number {
  const lastMs = Math.min(silence.untilMs, horizonMs)
  if (silence.weekly === null) return lastMs
  for (let atMs = nextMinute(nowMs); atMs < lastMs; atMs = nextMinute(atMs)) {
    if (!isActive(silence, atMs, offsetMs)) return atMs
  }
  return lastMs
}

function nextMinute(timeMs: number): number {
  return (Math.floor(timeMs / minuteMs) + 1) * minuteMs
}

interface SilenceableAlert {
  rule: { id: number; owner: number | null; selector: Selector | null }
  /** Undefined of one without a device, or whose device is removed. */
  device: SelectableDevice | undefined
}

interface ActiveSilence {
  id: number
  /** The end is at most the horizon. */
  endsMs: number
}

/**
 * The silence of an alert at this moment, the one that ends last. An alert without a device is silenced by one that
 * selects all devices of its rule.
 */
export function createSilencer(
  silences: readonly Silencing[],
  { nowMs, horizonMs, offsetMs }: { nowMs: number; horizonMs: number; offsetMs: OffsetMs },
): (alert: SilenceableAlert) => ActiveSilence | undefined {
  const active = silences
    .filter(silence => isActive(silence, nowMs, offsetMs))
    .map(silence => ({
      silence,
      isSelected: createSelection(silence.selector),
      found: { id: silence.id, endsMs: endMs(silence, nowMs, horizonMs, offsetMs) },
    }))
    .sort((a, b) => b.found.endsMs - a.found.endsMs)
  return ({ rule, device }) =>
    active.find(({ silence, isSelected }) => {
      if (silence.owner !== null && silence.owner !== rule.owner) return false
      if (silence.ruleId !== null && silence.ruleId !== rule.id) return false
      if (device !== undefined) return isSelected(device)
      return 'all' in silence.selector || (rule.selector !== null && liesWithin(rule.selector, silence.selector))
    })?.found
}

/** True where the outer selector selects all devices of the inner one, whichever devices exist. */
function liesWithin(inner: Selector, outer: Selector): boolean {
  if ('all' in outer) return true
  if ('devices' in outer) return 'devices' in inner && isSubset(inner.devices, outer.devices)
  return 'tags' in inner && outer.tags.every(tag => inner.tags.some(wanted => wanted === tag || isAnyOf(tag, wanted)))
}

/** `key:*` matches any tag of the key. */
function isAnyOf(match: string, tag: string): boolean {
  return match.endsWith(':*') && tag.startsWith(match.slice(0, -1))
}

function isSubset(names: readonly string[], of: readonly string[]): boolean {
  const all = new Set(of)
  return names.every(name => all.has(name))
}
