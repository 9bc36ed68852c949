/**
 * Rows 29: alerts while the service dies at each step from the acknowledged reading to the delivered notification, while a database
 * is away, the clock is wrong, or the receiver answers wrongly. Counted are alerts that are missed, told without being so, told
 * anew under another id, ended twice, or left behind.
 */

import { writeFileSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { freeze } from '../../support/frozen.ts'
import { until } from '../../support/processes.ts'
import { type AlertCourse, startCourse } from '../alert-course.ts'
import { type ClockPeriod, periodsIn } from '../clock-periods.ts'
import type { ExperimentOptions, Harness, TestBed } from '../experiment.ts'
import { type AlertPoint, alertPoints, injecting } from '../injection/settings.ts'
import { withQuickAlerts } from '../quick-alerts.ts'
import type { CountingReceiver } from '../receiver.ts'
import type { Tally } from '../tally.ts'

async function withAlerts(
  harness: Harness,
  options: Pick<ExperimentOptions, 'seed' | 'tally'> & Partial<ExperimentOptions>,
  work: (bed: TestBed, course: AlertCourse) => Promise<void>,
): Promise<void> {
  await withQuickAlerts(harness, options, async bed => {
    const course = await startCourse(bed)
    await work(bed, course)
    await course.end()
  })
}

/** At which point, and whether alerts begin or end. */
export type AlertDeath = readonly [point: AlertPoint, isUp: boolean]

/** When alerts end, nothing is asked of their groups. */
const alertDeaths = alertPoints.flatMap(point => {
  const directions = point === 'alerts-written' ? [true] : [true, false]
  return directions.map((isUp): AlertDeath => [point, isUp])
})

export async function dieWithAlerts(
  harness: Harness,
  tally: Tally,
  seed: number,
  cycles: number,
  deaths: readonly AlertDeath[] = alertDeaths,
): Promise<void> {
  for (let done = 0; done < cycles; done += deaths.length) {
    await withAlerts(harness, { seed: seed + done, tally }, async (bed, course) => {
      for (const [point, isUp] of deaths) {
        if (course.isUp() === isUp) await course.flip(!isUp)
        await flipAndDie(bed, course, isUp, point)
      }
    })
  }
}

async function flipAndDie(bed: TestBed, course: AlertCourse, isUp: boolean, point: AlertPoint): Promise<void> {
  const { service } = bed
  await service.end('SIGTERM')
  await service.start(injecting({ FAIL_POINT: `${point}:1` }))
  await course.send(isUp)
  await service.ended(`a death at ${point}, ${isUp ? 'up' : 'down'}`)
  bed.noteCrash()
  await service.start()
  await course.flip(isUp)
}

const frozenMs = 15_000

/** What is acknowledged meanwhile is told when the database is back. */
export async function alertsWhileFrozen(harness: Harness, tally: Tally, seed: number, cycles: number): Promise<void> {
  for (let cycle = 0; cycle < cycles; cycle++) {
    await withAlerts(harness, { seed: seed + cycle, tally }, async (bed, course) => {
      for (const server of ['postgres', 'questdb'] as const) {
        for (const isUp of [true, false]) {
          const thaw = freeze(bed.databases.pid(server))
          bed.hooks.teardown(thaw)
          await course.send(isUp)
          await sleep(frozenMs)
          thaw()
          await course.flip(isUp)
        }
      }
    })
  }
}

const hourSeconds = 3600

export async function alertsWithWrongClock(
  harness: Harness,
  tally: Tally,
  seed: number,
  cycles: number,
): Promise<void> {
  for (let cycle = 0; cycle < cycles; cycle++) {
    const clockFile = join(harness.folder, `alert-clock-${seed + cycle}`)
    const clock: ClockPeriod[] = []
    const environment = injecting({ FAULT_CLOCK_FILE: clockFile })
    await withAlerts(harness, { seed: seed + cycle, tally, environment, judging: { clock } }, async (bed, course) => {
      for (const [offsetSeconds, isUp] of [
        [-hourSeconds, true],
        [0, false],
        [hourSeconds, true],
        [0, false],
      ] as const) {
        writeFileSync(clockFile, String(offsetSeconds))
        await until('the service sees it', () => bed.service.output().includes('clock stepped'))
        await course.flip(isUp)
      }
      clock.push(...periodsIn(bed.service.output(), 0, 0))
    })
  }
}

const largeAnswer = Buffer.alloc(10_000_000, 'a')
const badAnswers: ((response: ServerResponse, receiver: CountingReceiver) => void)[] = [
  response => void response.writeHead(500).end(),
  (response, { url }) => void response.writeHead(302, { location: url }).end(),
  response => void response.writeHead(500).end(largeAnswer),
  response => void response.destroy(),
  // Never: the attempt ends by its deadline.
  () => undefined,
]

/** Each bad answer is followed by a good one, five seconds later. */
export async function alertsToBadReceivers(
  harness: Harness,
  tally: Tally,
  seed: number,
  cycles: number,
): Promise<void> {
  for (let cycle = 0; cycle < cycles; cycle++) {
    await withAlerts(harness, { seed: seed + cycle, tally }, async (_bed, course) => {
      const { receiver } = course
      const good = receiver.answer
      for (const [index, bad] of badAnswers.entries()) {
        receiver.answer = response => {
          receiver.answer = good
          bad(response, receiver)
        }
        await course.flip(index % 2 === 0)
      }
      await course.flip(badAnswers.length % 2 === 0)
    })
  }
}
