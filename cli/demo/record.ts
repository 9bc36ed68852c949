/** The measurements of a real station, repeated round after round: each at its time of the day, and of the year. */

import { readFileSync } from 'node:fs'
import { bug } from '../../store/limits/bug.ts'
import type { RecordedStation } from './stations.ts'
import type { Measurement } from './weather.ts'

export interface Replay {
  /** Measurements from the record, repeated in whole rounds and interpolated between two lines. */
  at(timeMs: number): Measurement
  /** One round of the record: a day, or a year, from `startMs` on. */
  startMs: number
  periodMs: number
  stepMs: number
}

interface Recording {
  startMs: number
  stepMs: number
  measurements: Measurement[]
}

export function createReplay(station: Pick<RecordedStation, 'file' | 'fileStepMs'>): Replay {
  const { startMs, stepMs, measurements } = readRecording(station)
  const count = measurements.length

  function measurement(step: number): Measurement {
    const found = measurements[((step % count) + count) % count]
    if (found === undefined) throw bug(`step ${step} is not within the ${count} of the record`)
    return found
  }

  return {
    startMs,
    stepMs,
    periodMs: count * stepMs,
    at(timeMs) {
      const steps = (timeMs - startMs) / stepMs
      const before = Math.floor(steps)
      return between(measurement(before), measurement(before + 1), steps - before)
    },
  }
}

function between(before: Measurement, after: Measurement, share: number): Measurement {
  const mix = (a: number, b: number) => a + (b - a) * share
  return {
    temperature: mix(before.temperature, after.temperature),
    humidity: mix(before.humidity, after.humidity),
    pressure: mix(before.pressure, after.pressure),
  }
}

/** The files of the demo are whole: a line for each step, and a value in each cell. */
function readRecording({ file, fileStepMs: stepMs }: Pick<RecordedStation, 'file' | 'fileStepMs'>): Recording {
  const text = readFileSync(new URL(`./data/${file}`, import.meta.url), 'utf8')
  const rows = text
    .trim()
    .split('\n')
    .slice(1)
    .map(line => line.split(','))
  const startMs = Date.parse(rows[0]?.[0] ?? '')
  const measurements = rows.map(([time = '', , temperature, humidity, pressure], row) => {
    if (Date.parse(time) !== startMs + row * stepMs) throw bug(`${file} has ${time} in the line of step ${row}`)
    return { temperature: Number(temperature), humidity: Number(humidity), pressure: Number(pressure) }
  })
  return { startMs, stepMs, measurements }
}
