/**
 * Response of `domain/<device>`: figures that depend on the device's profile. Numbers of a figure are null where it has
 * a reason.
 */

import { z } from 'zod'
import { profiles } from '../../analytics/domain/profile.ts'
import { answerContext, Count, LocalMinute, reason } from './parts.ts'

const Hours = z.number().nonnegative()
const observed = { observed_hours: Hours.meta({ description: 'Hours with all values that the figure needs.' }) }

const HoursFigure = z.strictObject({ reason, ...observed, hours: Hours.nullable() }).meta({ id: 'HoursFigure' })

const spread = {
  reason,
  unit: z.string(),
  ...observed,
  mean: z.number().nullable(),
  min: z.number().nullable(),
  max: z.number().nullable(),
}
const SpreadFigure = z.strictObject(spread).meta({ id: 'SpreadFigure' })

const BandFigure = z
  .strictObject({
    ...spread,
    below: z.number().nullable(),
    above: z.number().nullable(),
    hours_below: Hours.nullable(),
    hours_above: Hours.nullable(),
  })
  .meta({ id: 'BandFigure' })

const DegreeDays = z
  .strictObject({
    reason,
    days: Count,
    heating_15_5: z.number().nullable(),
    heating_20_15: z.number().nullable(),
    cooling_22: z.number().nullable(),
  })
  .meta({ id: 'DegreeDays' })

const weather = {
  sea_level_pressure: SpreadFigure,
  frost: HoursFigure,
  dew: HoursFigure,
  degree_days: DegreeDays,
}

const indoor = {
  temperature: BandFigure,
  humidity: BandFigure,
  mould: HoursFigure.extend({ measured_outdoor_hours: Count }).meta({ id: 'MouldFigure' }),
}

const coldChain = {
  temperature: BandFigure,
  mean_kinetic_temperature: z.strictObject({ reason, value: z.number().nullable() }),
  door_openings: z.strictObject({ reason, count: Count.nullable() }),
  defrosts: z.strictObject({ reason, count: Count.nullable(), period_hours: z.number().positive().nullable() }),
}

const greenhouse = { vapour_pressure_deficit: BandFigure, leaf_dew: HoursFigure }

function partOf<Figures extends z.ZodRawShape>(figures: Figures, id: string) {
  const day = z.strictObject({ date: z.iso.date(), ...figures }).meta({ id: `${id}Day` })
  return z
    .strictObject({ total: z.strictObject(figures), days: z.array(day) })
    .meta({ id })
    .nullable()
}

export const DomainFigures = z.strictObject({
  device: z.string(),
  ...answerContext,
  profile: z.enum(profiles).meta({ description: 'The part of this profile has figures, the others are null.' }),
  start: LocalMinute,
  end: LocalMinute,
  weather: partOf(weather, 'WeatherFigures'),
  indoor: partOf(indoor, 'IndoorFigures'),
  cold_chain: partOf(coldChain, 'ColdChainFigures'),
  greenhouse: partOf(greenhouse, 'GreenhouseFigures'),
})
export type DomainFigures = z.infer<typeof DomainFigures>
