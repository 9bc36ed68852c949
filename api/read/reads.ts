/** Declares the given reads of loggers: the latest readings, a day, and a device. */

import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { Device } from '../../auth/devices/device.ts'
import { bodyOf, encodeBody } from '../../query/cache/body.ts'
import { DayReadings } from '../../query/day.ts'
import { LatestReadings } from '../../query/latest.ts'
import type { Query } from '../../query/query.ts'
import { devicesMax } from '../http/parameters.ts'
import type { OperationGroup } from '../http/route-family.ts'
import { sendBody } from '../http/send-body.ts'
import type { ReadOperation } from '../http/status-operations.ts'
import { disconnectSignalOf } from '../http/streamed-response.ts'
import type { ReadAccess } from './read-access.ts'
import { refuse, type Sent, sendAnswer } from './read-access.ts'
import { DevicePath, jsonRead, readGroup } from './read-operation.ts'
import { deviceInPath, fleetOrListed } from './read-subjects.ts'
import { type Fleet, isWhole } from './readers.ts'
import { PublicDevice } from './shapes.ts'

/** Largest number of hours of the latest readings. */
const hoursMax = 72

/** A whole number from 1 to 72, in plain digits. */
export function readHours(text: string): number | undefined {
  if (!/^[1-9]\d?$/.test(text)) return undefined
  const hours = Number(text)
  return hours <= hoursMax ? hours : undefined
}

export interface ReadsOptions {
  query: Pick<Query, 'latestAll' | 'latestOf' | 'day' | 'coded'>
}

/** A device changes seldom, and a short delay is harmless. */
const deviceMaxAgeSeconds = 10

/** Names that are not empty. */
const listedForm = `^[^,]+(?:,[^,]+){0,${devicesMax - 1}}$`

type LatestRequest = FastifyRequest<{ Params: { hour: string } }>
type DayRequest = FastifyRequest<{ Params: { date: string } }>

const LatestPath = z.object({
  hour: z.int().min(1).max(hoursMax).meta({ description: 'How many hours back' }),
})
const LatestQuery = z.object({
  devices: z
    .string()
    .optional()
    .meta({ pattern: listedForm, description: `Names with commas between them, at most ${devicesMax}` }),
})

export function readsGroup(access: ReadAccess, { query }: ReadsOptions): OperationGroup<ReadOperation> {
  function latest(fleet: Fleet, request: LatestRequest, reply: FastifyReply): Sent {
    const hours = readHours(request.params.hour)
    if (hours === undefined) return refuse(reply, 'HOUR_INVALID')
    const answer = isWhole(fleet)
      ? query.latestAll(hours, fleet.active)
      : query.latestOf(hours, fleet.active(), disconnectSignalOf(reply))
    return sendAnswer(request, reply, answer, query.coded, 'TOO_MANY_DEVICES')
  }

  function day(device: Device, request: DayRequest, reply: FastifyReply): Sent {
    return sendAnswer(request, reply, query.day(device, request.params.date, disconnectSignalOf(reply)), query.coded)
  }

  function describe(device: Device, request: FastifyRequest, reply: FastifyReply): Sent {
    const { location_short, location_desc, log_switch, battery, tags } = device
    const about: PublicDevice = {
      location_short,
      location_desc,
      log_switch,
      battery,
      ...(tags.length === 0 ? {} : { tags }),
    }
    const text = JSON.stringify(about)
    const body = bodyOf(encodeBody(new TextEncoder().encode(text)))
    return sendBody(request, reply, body, deviceMaxAgeSeconds, query.coded)
  }

  return readGroup(
    jsonRead(access, {
      path: '/latest/all/:hour',
      name: 'read_latest',
      summary: 'The latest readings of all active devices',
      description: 'Means over `bucket_seconds` where the readings would be too many for one answer.',
      subject: fleetOrListed('devices'),
      parameters: { path: LatestPath, query: LatestQuery },
      ignoresUnknown: true,
      answer: LatestReadings.meta({ id: 'LatestReadings' }),
      refusals: ['HOUR_INVALID', 'DEVICES_INVALID', 'DEVICE_UNKNOWN', 'TOO_MANY_DEVICES'],
      handle: latest,
    }),
    jsonRead(access, {
      path: '/data/day/:device/:date',
      name: 'read_day',
      summary: 'The readings of a local day',
      subject: deviceInPath('device'),
      parameters: { path: DevicePath.extend({ date: z.iso.date() }) },
      ignoresUnknown: true,
      answer: DayReadings.meta({ id: 'DayReadings' }),
      refusals: ['DATE_INVALID', 'DEVICE_UNKNOWN', 'TOO_LARGE'],
      handle: day,
    }),
    jsonRead(access, {
      path: '/device/:name',
      publishedPath: '/device/{device}',
      name: 'read_device',
      summary: 'Describes a device',
      subject: deviceInPath('name'),
      parameters: { path: DevicePath },
      ignoresUnknown: true,
      answer: PublicDevice.meta({ id: 'PublicDevice' }),
      refusals: ['DEVICE_UNKNOWN'],
      handle: describe,
    }),
  )
}
