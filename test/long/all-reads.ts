/** Everything that is read of the made shards, as text, by what is asked. */

import { deviceRow, furtherRow, hourRow, lastRow } from '../../query/answers/fleet-rows.ts'
import type { Answer } from '../../query/cache/body.ts'
import type { FurtherMetric } from '../../query/further-metric.ts'
import type { Query } from '../../query/query.ts'
import { stays } from '../query/query-at.ts'
import { devices, furtherOf, names, nothingElse, nowMs } from './made-shards.ts'

type Texts = Record<string, string>

export async function allReads(query: Query): Promise<Texts> {
  return { ...(await deviceReads(query)), ...(await fleetAnswers(query)), ...(await fleetRows(query)) }
}

export function textIn(answer: Answer): string {
  if (answer.ok) return answer.body.bytes.toString()
  return answer.shard === undefined ? answer.code : `${answer.code} of shard ${answer.shard}`
}

async function deviceReads(query: Query): Promise<Texts> {
  const texts: Texts = {}
  for (const [place, name] of names.entries()) {
    const device = devices[name]
    const further = furtherOf(name)
    for (const date of ['2026-05-04', '2026-05-16', '2026-05-17', '2026-05-20']) {
      texts[`day ${date} of ${name}`] = textIn(await query.day(device, date, stays()))
    }
    const ask = async (what: string, answer: Answer | Promise<Answer>) => {
      texts[`${what} of ${name}`] = textIn(await answer)
    }
    for (const days of [1, 30]) {
      await ask(`stats ${days}`, query.stats(device, { days, stepSeconds: undefined, further }, stays()))
      await ask(`daily ${days}`, query.daily(device, { days, further }, stays()))
    }
    await ask('daily 60', query.daily(device, { days: 60, further }, stays()))
    const how = { points: undefined, withTimes: true, withFlags: true, further }
    await ask('detail', query.detail(device, how, stays()))
    await ask('past', query.past(device, { further }, stays()))
    const next = names[(place + 1) % names.length] ?? name
    for (const other of [name, next]) {
      const pairs = further.map((a, at) => ({ a, b: furtherOf(other)[at] as FurtherMetric }))
      const preset = other === name ? '30d' : '7d'
      const compared = query.compare(device, devices[other], { further: pairs, preset, withTimes: true }, stays())
      await ask(`comparison with ${other}`, compared)
    }
  }
  return texts
}

async function fleetAnswers(query: Query): Promise<Texts> {
  const all = names.map(name => devices[name])
  const some = [devices.back, devices.second]
  const texts: Texts = {}
  for (const hours of [1, 24, 200, 700]) {
    texts[`latest ${hours}`] = textIn(await query.latestAll(hours, () => all))
    texts[`latest ${hours} of some`] = textIn(await query.latestOf(hours, some, stays()))
  }
  const insights = query.insights(nothingElse)
  texts['insights'] = textIn(await insights.all(() => all))
  texts['insights of some'] = textIn(await insights.of(some, stays()))
  return texts
}

/** In the order of their text: QuestDB gives them in any order. */
async function fleetRows({ fleetRows }: Query): Promise<Texts> {
  const texts: Texts = {}
  const put = async (what: string, width: number, asked: ReturnType<Query['fleetRows']>) => {
    const result = await asked
    const rows = result.ok ? result.rows : new Float64Array(0)
    const lines = Array.from({ length: rows.length / width }, (_, row) =>
      rows.slice(row * width, (row + 1) * width).join(),
    )
    texts[what] = result.ok
      ? lines.sort((a, b) => (a < b ? -1 : 1)).join('\n')
      : `${result.code} of shard ${result.shard}`
  }
  const nowUs = nowMs * 1000
  const dayUs = 86_400_000_000
  for (const days of [1, 5, 20]) {
    const range = { fromUs: nowUs - days * dayUs, toUs: nowUs + 1 }
    await put(`last values of ${days} days`, lastRow.width, fleetRows('fleetLast', range, stays()))
    const further = { ...range, series: undefined }
    await put(`last further values of ${days} days`, furtherRow.width, fleetRows('fleetFurther', further, stays()))
    for (const name of names) {
      const series = furtherOf(name).flatMap(metric => metric.series ?? [])
      const ofOne = { ...range, series, device: devices[name].number }
      await put(`those of ${name}, ${days} days`, furtherRow.width, fleetRows('fleetFurther', ofOne, stays()))
    }
  }
  for (const hours of [1, 14, 15, 16, 17, 18, 100]) {
    const fromUs = Math.floor(nowUs / 3_600_000_000 - hours) * 3_600_000_000
    for (const isInView of [false, true]) {
      await put(`hour ${hours} ${isInView}`, hourRow.width, fleetRows('fleetHour', { fromUs, isInView }, stays()))
    }
  }
  for (const timesMax of [20, 5000]) {
    const asked = { devices: names.map(name => devices[name]), nowUs, newestUs: nowUs + 300_000_000, timesMax }
    await put(`devices by ${timesMax} times`, deviceRow.width, fleetRows('fleetDevices', asked, stays()))
  }
  return texts
}
