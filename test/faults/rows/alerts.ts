/**
 * Rows 29a to 29d. The service is killed at each step from the reading to the notification. A database is unavailable, the clock
 * is wrong, or the receiver misbehaves. Alerts that are missed, spurious, repeated under another id, ended twice, or left over are
 * counted.
 */

import type { ServerResponse } from 'node:http'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { freeze } from '../../support/frozen.ts'
import { until } from '../../support/processes.ts'
import { type AlertCourse, eachAlertCycle, startCourse } from '../alert-course.ts'
import type { CountingReceiver } from '../alert-receivers.ts'
import { setClockFile } from '../clock.ts'
import type { Harness, Run, TestBed } from '../experiment.ts'
import { type AlertPoint, alertPoints, injecting } from '../injection/settings.ts'
import { followClock } from './clocks.ts'

function eachCourse(
  work: (bed: TestBed, course: AlertCourse, cycle: number) => Promise<void>,
  environmentOf?: Parameters<typeof eachAlertCycle>[1],
): Run<Harness> {
  return eachAlertCycle(async (bed, cycle) => {
    const course = await startCourse(bed)
    await work(bed, course, cycle)
    await course.end()
  }, environmentOf)
}

type AlertDeath = readonly [point: AlertPoint, isUp: boolean]

/** The end of an alert does not query its group. */
const alertDeaths = alertPoints.flatMap(point => {
  const directions = point === 'alerts-written' ? [true] : [true, false]
  return directions.map((isUp): AlertDeath => [point, isUp])
})

export function dieWithAlerts(deaths: readonly AlertDeath[] = alertDeaths): Run<Harness> {
  const run = eachCourse(async (bed, course) => {
    for (const [point, isUp] of deaths) {
      if (course.isUp() === isUp) await course.flip(!isUp)
      await flipAndDie(bed, course, isUp, point)
    }
  })
  return (harness, tally, seed, cycles) => run(harness, tally, seed, Math.ceil(cycles / deaths.length))
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

/** Readings acknowledged meanwhile cause notifications when the database is available again. */
export const alertsWhileFrozen = eachCourse(async (bed, course) => {
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

export const alertsWithWrongClock = eachCourse(
  async (bed, course) => {
    for (const [offsetSeconds, isUp] of [
      [-3600, true],
      [0, false],
      [3600, true],
      [0, false],
    ] as const) {
      setClockFile(bed.service.environment['FAULT_CLOCK_FILE'] ?? '', offsetSeconds)
      await until('the service sees it', () => bed.service.output().includes('clock stepped'))
      await course.flip(isUp)
    }
    followClock(bed).learn()
  },
  (cycle, { folder }) => injecting({ FAULT_CLOCK_FILE: join(folder, `alert-clock-${process.pid}-${cycle}`) }),
)

const largeAnswer = Buffer.alloc(10_000_000, 'a')
const badAnswers: ((response: ServerResponse, receiver: CountingReceiver) => void)[] = [
  response => void response.writeHead(500).end(),
  (response, { url }) => void response.writeHead(302, { location: url }).end(),
  response => void response.writeHead(500).end(largeAnswer),
  response => void response.destroy(),
  // The attempt ends at its deadline, so this timer never fires.
  () => undefined,
]

/** Each bad response is followed by a good one five seconds later. */
export const alertsToBadReceivers = eachCourse(async (_bed, { flip, receiver }) => {
  const good = receiver.answer
  for (const [index, bad] of badAnswers.entries()) {
    receiver.answer = response => {
      receiver.answer = good
      bad(response, receiver)
    }
    await flip(index % 2 === 0)
  }
  await flip(badAnswers.length % 2 === 0)
})
