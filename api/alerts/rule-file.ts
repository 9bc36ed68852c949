/** Writes rules to a file by names, so that the file gives the same rules on another installation. */

import { z } from 'zod'
import { bounds } from '../../alerts/core/bounds.ts'
import { NewRule, type Rule } from '../../alerts/core/rule.ts'
import { plainText } from '../../store/plain-text.ts'
import type { Issue } from '../admin/problem.ts'

const ChannelName = plainText({ min: 1, max: 64 })

const FileRule = z.strictObject({
  ...NewRule.shape,
  channels: z.array(ChannelName).max(bounds.channelsPerRule).default([]).meta({ description: 'By their names' }),
})

const FileChannel = z.object({
  name: ChannelName,
  kind: z.string().max(20),
  settings: z.record(z.string(), z.union([z.string().max(2000), z.boolean()])).default({}),
})

export const RuleFile = z.strictObject({
  rules: z
    .array(FileRule)
    .max(bounds.rulesPerOwner)
    .refine(rules => new Set(rules.map(({ name }) => name)).size === rules.length, 'must not have a name twice'),
  channels: z
    .array(FileChannel)
    .max(bounds.channelsPerOwner)
    .default([])
    .meta({ description: 'Channels of the rules, without their secrets' }),
})
export type RuleFile = z.infer<typeof RuleFile>

export interface FiledChannel {
  readonly id: number
  readonly name: string
  readonly kind: string
  readonly settings: Readonly<Record<string, string | boolean>>
}

/** Sorted by name, so that equal rules give equal files. */
export function ruleFileOf(rules: readonly Rule[], channels: readonly FiledChannel[]): RuleFile {
  const byId = new Map(channels.map(channel => [channel.id, channel]))
  const used = new Set<FiledChannel>()
  const filed = rules
    .toSorted(byName)
    .map(({ id: _id, owner: _owner, version: _version, created_at: _created, ...rule }) => {
      const ofRule = rule.channels.flatMap(id => byId.get(id) ?? []).sort(byName)
      for (const channel of ofRule) used.add(channel)
      return { ...rule, channels: ofRule.map(({ name }) => name) }
    })
  return {
    rules: filed,
    channels: [...used].sort(byName).map(({ name, kind, settings }) => ({ name, kind, settings })),
  }
}

export type ReadRules =
  | { readonly ok: true; readonly rules: NewRule[] }
  | { readonly ok: false; readonly issues: Issue[] }

/** A file does not create channels: it lacks their secret destinations. */
export function rulesOf({ rules, channels }: RuleFile, present: readonly FiledChannel[]): ReadRules {
  const byNameOfChannel = new Map(present.map(channel => [channel.name, channel]))
  const issues: Issue[] = []
  for (const [at, { name, kind }] of channels.entries()) {
    const found = byNameOfChannel.get(name)
    const message =
      found === undefined ? 'there is no channel of this name: add it first' : `is a channel of the kind ${found.kind}`
    if (found?.kind !== kind) issues.push({ path: `channels[${at}].name`, message })
  }
  const read = rules.flatMap((rule, at) => {
    const ids = rule.channels.map(name => byNameOfChannel.get(name)?.id)
    for (const [place, id] of ids.entries()) {
      if (id === undefined)
        issues.push({ path: `rules[${at}].channels[${place}]`, message: 'there is no channel of this name' })
    }
    const parsed = NewRule.safeParse({ ...rule, channels: ids.filter(id => id !== undefined) })
    if (parsed.success) return [parsed.data]
    issues.push(
      ...parsed.error.issues.map(({ path, message }) => ({
        path: [`rules[${at}]`, ...path].map(String).join('.'),
        message,
      })),
    )
    return []
  })
  return issues.length === 0 ? { ok: true, rules: read } : { ok: false, issues }
}

function byName(a: { name: string }, b: { name: string }): number {
  return a.name < b.name ? -1 : 1
}
