/** Outliers of made fleets: none in a healthy one, and the broken device first. */

import { fleetChanges, type Outlier } from '../../analytics/fleet/changes.ts'
import { comparedDays, quartersPerDay } from '../../analytics/fleet/day-changes.ts'
import { gaugeChanges } from '../../query/answers/insights-answer.ts'
import { uniform } from '../analytics/series.ts'
import type { Property } from './property.ts'

const devices = 200
const quarters = comparedDays * quartersPerDay
const brokenBy = 5

type Metric = 'temperature' | 'humidity' | 'pressure'
const differencesMin = { temperature: 2, humidity: 12, pressure: 4 } satisfies Record<Metric, number>
const metrics = Object.keys(differencesMin) as Metric[]

class Random {
  readonly next: () => number

  constructor(seed: number) {
    this.next = uniform(seed)
  }

  normal(): number {
    return Math.sqrt(-2 * Math.log(1 - this.next())) * Math.cos(2 * Math.PI * this.next())
  }

  between(from: number, to: number): number {
    return from + (to - from) * this.next()
  }

  /** A stationary AR(1) of this standard deviation, a value every six hours. */
  memory(phi: number, deviation: number): Float64Array {
    const values = new Float64Array(quarters)
    let value = this.normal()
    for (let at = 0; at < quarters; at++) {
      values[at] = deviation * value
      value = phi * value + Math.sqrt(1 - phi * phi) * this.normal()
    }
    return values
  }
}

/** Weather of a place, as differences from its climate. */
type Weather = Record<Metric, Float64Array>

function weatherOf(random: Random, front: number): Weather {
  const fast = random.memory(0.53, 1.5)
  const slow = random.memory(0.97, 3)
  const temperature = slow.map((value, at) => value + (fast[at] as number))
  const own = random.memory(0.7, 6)
  const humidity = temperature.map((value, at) => -1.5 * value + (own[at] as number))
  const weather = { temperature, humidity, pressure: random.memory(0.95, 7) }
  addFront(weather, front)
  return weather
}

/** The air is colder, damper and lighter from the middle of the last day on. */
function addFront(weather: Weather, front: number): void {
  const steps = { temperature: -8, humidity: 20, pressure: -12 }
  for (const metric of metrics) {
    for (const [at, share] of [0.3, 0.7, 1, 1].entries()) {
      const place = quarters - quartersPerDay + at
      weather[metric][place] = (weather[metric][place] as number) + front * share * steps[metric]
    }
  }
}

const noise = { temperature: 0.1, humidity: 0.6, pressure: 0.1 }
const daySwing = { temperature: 4, humidity: 10, pressure: 0.5 }

interface Made {
  readonly level: Record<Metric, number>
  /** The followed weathers and their shares. */
  readonly follows: readonly (readonly [Weather, Record<Metric, number>])[]
  /** Its own deviation, with a memory. */
  readonly own: Record<Metric, number>
  readonly tags: readonly string[]
  readonly defrosts?: boolean
}

interface Fleet {
  readonly tags: readonly (readonly string[])[]
  readonly values: Record<Metric, Float64Array[]>
}

const gains = (temperature: number, humidity = temperature) => ({ temperature, humidity, pressure: 1 })

function fleetOf(random: Random, made: readonly Made[]): Fleet {
  const values = { temperature: [], humidity: [], pressure: [] } as Record<Metric, Float64Array[]>
  for (const one of made) for (const metric of metrics) values[metric].push(seriesOf(random, one, metric))
  return { tags: made.map(({ tags }) => tags), values }
}

function seriesOf(random: Random, { level, follows, own, defrosts = false }: Made, metric: Metric): Float64Array {
  const wander = random.memory(0.7, own[metric])
  const swing = daySwing[metric] * random.between(0.2, 1)
  return wander.map((value, at) => {
    const ofOthers = follows.reduce((sum, [weather, gain]) => sum + gain[metric] * (weather[metric][at] as number), 0)
    const ofDay = swing * Math.sin((2 * Math.PI * at) / quartersPerDay)
    // Doors are opened more on some days. Each defrost is reported in a quarter.
    const ofDoors = defrosts && metric === 'temperature' ? 0.4 * Math.exp(0.6 * random.normal()) + (at % 2) * 0.5 : 0
    return level[metric] + ofOthers + ofDay + value + ofDoors + noise[metric] * random.normal()
  })
}

function levelOf(random: Random, temperature: number, humidity: number, height = 0) {
  return {
    temperature: temperature + random.normal(),
    humidity: humidity + 3 * random.normal(),
    pressure: 1013 - height / 8 + 0.5 * random.normal(),
  }
}

function many<One>(count: number, one: (index: number) => One): One[] {
  return Array.from({ length: count }, (_, index) => one(index))
}

function outdoors(random: Random, weather: Weather, tag: string, own = 0.5): Made {
  const gain = random.between(0.8, 1.2)
  const follows = [[weather, gains(gain)]] as const
  return { level: levelOf(random, 12, 70), follows, own: { temperature: own, humidity: 3, pressure: 0.2 }, tags: [tag] }
}

/** A room follows its building, which follows the weather a little. */
function indoors(random: Random, weather: Weather, building: Weather, tag: string): Made {
  const follows = [
    [weather, { ...gains(random.between(0.02, 0.12)), pressure: 1 }],
    [building, { ...gains(random.between(0.5, 1)), pressure: 0 }],
  ] as const
  const own = { temperature: random.between(0.2, 0.6), humidity: random.between(1, 3), pressure: 0.1 }
  return { level: levelOf(random, 21, 45), follows, own, tags: [tag] }
}

/** The air of a building, as rooms have it in common. */
function buildingOf(random: Random): Weather {
  return { temperature: random.memory(0.8, 0.6), humidity: random.memory(0.8, 4), pressure: new Float64Array(quarters) }
}

const worlds: Record<string, (random: Random, front: number) => Made[]> = {
  'in a building': (random, front) => {
    const [weather, building] = [weatherOf(random, front), buildingOf(random)]
    return many(devices, index => indoors(random, weather, building, `floor:${index % 5}`))
  },
  'half of it outdoors': (random, front) => {
    const [weather, building] = [weatherOf(random, front), buildingOf(random)]
    return many(devices, index =>
      index % 2 === 0 ? outdoors(random, weather, 'place:out') : indoors(random, weather, building, 'place:in'),
    )
  },
  'of freezers': (random, front) => {
    const [weather, shop] = [weatherOf(random, front), buildingOf(random)]
    const follows = [
      [weather, { temperature: 0.01, humidity: 0.05, pressure: 1 }],
      [shop, { temperature: 0.1, humidity: 0.2, pressure: 0 }],
    ] as const
    return many(devices, index => ({
      level: levelOf(random, -18, 60),
      follows,
      own: { temperature: random.between(0.1, 0.5), humidity: 3, pressure: 0.1 },
      tags: [`shop:${index % 10}`],
      defrosts: true,
    }))
  },
  'of five climates': (random, front) => {
    const climates = many(5, index => weatherOf(random, index === 0 ? front : 0))
    return many(devices, index => {
      const made = outdoors(random, climates[index % 5] as Weather, `climate:${index % 5}`)
      return { ...made, level: levelOf(random, 10 * (index % 5) - 10, 20 + 15 * (index % 5)) }
    })
  },
  'of farms in valleys and on mountains, whose air does not mix on some days,': (random, front) => {
    const weather = weatherOf(random, front)
    // Kelvins for 1,000 m: the valleys are colder than usual while the mountains are warmer, and the other way round.
    const layers: Weather = { ...weather, temperature: random.memory(0.8, 3), humidity: random.memory(0.8, 6) }
    return many(devices, index => {
      const height = 100 * (index % 20)
      const layer = (height - 1000) / 1000
      const made = outdoors(random, weather, `farm:${index % 20}`)
      const follows = [...made.follows, [layers, { ...gains(layer), pressure: 0 }]] as const
      return { ...made, follows, level: levelOf(random, 15 - height / 150, 65, height) }
    })
  },
}

/** Every other run has tags. */
function listed({ tags, values }: Fleet, isTagged: boolean): (Outlier & { readonly metric: Metric })[] {
  const found = metrics.flatMap(metric => {
    const mean = (device: number, quarter: number) => values[metric][device]?.[quarter] ?? Number.NaN
    const tagsOf = (device: number) => (isTagged ? (tags[device] ?? []) : [])
    const found = fleetChanges({ devices, mean }, { tagsOf, differenceMin: differencesMin[metric] })
    return found.map(outlier => ({ ...outlier, metric }))
  })
  return found.sort((a, b) => Math.abs(b.score) - Math.abs(a.score))
}

function madeFleet(world: string, seed: number, isBroken: boolean) {
  const random = new Random(7919 * seed)
  // Every third run has a front.
  const front = seed % 3 === 0 ? 1 : 0
  const fleet = fleetOf(random, (worlds[world] as (random: Random, front: number) => Made[])(random, front))
  const broken = Math.floor(random.next() * devices)
  const series = fleet.values.temperature[broken] as Float64Array
  if (isBroken)
    for (let at = quarters - quartersPerDay; at < quarters; at++) series[at] = (series[at] as number) + brokenBy
  return { found: listed(fleet, seed % 2 === 0), broken }
}

const worldProperties: readonly Property[] = Object.keys(worlds).flatMap(world => [
  {
    name: `a device listed of a healthy fleet ${world}`,
    atMost: 0.05,
    run: (seed: number) => madeFleet(world, seed, false).found.length > 0,
  },
  {
    name: `a device 5 °C too warm first of a fleet ${world}`,
    atLeast: 0.9,
    run: (seed: number) => {
      const { found, broken } = madeFleet(world, seed, true)
      return found[0]?.device === broken && found[0].metric === 'temperature'
    },
  },
])

/** Four devices a climate, too few similar ones for a comparison. */
function smallFleet(seed: number): Fleet {
  const random = new Random(7919 * seed)
  const climates = many(5, index => weatherOf(random, index === 0 && seed % 3 === 0 ? 1 : 0))
  const made = many(20, index => {
    const one = outdoors(random, climates[index % 5] as Weather, `climate:${index % 5}`)
    return { ...one, level: levelOf(random, 10 * (index % 5) - 10, 20 + 15 * (index % 5)) }
  })
  return fleetOf(random, made)
}

/** The value of a thermometer with a broken wire. */
const brokenWire = -127

function withBrokenWire({ tags, values }: Fleet, device: number): Fleet {
  const series = values.temperature[device] as Float64Array
  const broken = series.map((value, at) => (at < quarters - quartersPerDay ? value : brokenWire))
  return { tags, values: { ...values, temperature: values.temperature.with(device, broken) } }
}

const smallFleetProperties: readonly Property[] = [
  {
    name: 'a device listed of a healthy fleet of 20 in five climates',
    atMost: 0.02,
    run: seed => listed(smallFleet(seed), seed % 2 === 0).length > 0,
  },
  {
    name: 'a device listed of a fleet of 20 in five climates is compared with fewer than four others',
    atMost: 0,
    run: seed => listed(smallFleet(seed), seed % 2 === 0).some(({ peers }) => peers > 0 && peers < 4),
  },
  {
    name: 'a device with a broken wire first of a fleet of 20 in five climates, without peers',
    atLeast: 0.9,
    run: seed => {
      const device = seed % 20
      const [first] = listed(withBrokenWire(smallFleet(seed), device), seed % 2 === 0)
      return first?.device === device && first.metric === 'temperature' && first.peers === 0
    },
  },
]

export const fleetOutlierProperties: readonly Property[] = [...worldProperties, ...smallFleetProperties]

/** A common signal of forty devices: the use of an office by day and week, or the wind, which is heavy-tailed. */
const gaugeWorlds: Readonly<Record<string, (random: Random) => Float64Array[]>> = {
  'CO₂ in an office': random => {
    const use = Array.from({ length: quarters }, (_, at) => {
      const [day, quarter] = [Math.floor(at / quartersPerDay), at % quartersPerDay]
      const isWeekend = day % 7 > 4
      return isWeekend || quarter === 0 ? 0 : random.between(0.5, 1) * (quarter === 3 ? 0.5 : 1)
    })
    return many(gaugeDevices, () => {
      const seats = random.between(50, 500)
      return Float64Array.from(use, share => 420 + seats * share * random.between(0.3, 1.3) + 5 * random.normal())
    })
  },
  'wind at one place': random => {
    const wind = Array.from({ length: quarters }, () => Math.exp(0.6 * random.normal()))
    return many(gaugeDevices, () => {
      const gain = random.between(0.5, 3)
      return Float64Array.from(wind, speed => gain * speed * Math.exp(0.3 * random.normal()))
    })
  },
}
const gaugeDevices = 40

function listedGauges(world: string, seed: number, isBroken: boolean) {
  const random = new Random(7919 * seed)
  const series = (gaugeWorlds[world] as (random: Random) => Float64Array[])(random)
  const broken = Math.floor(random.next() * gaugeDevices)
  const of = series[broken] as Float64Array
  const usual = of.reduce((sum, value) => sum + value, 0) / quarters
  // Five times the usual value: a sensor that has gone wrong.
  if (isBroken) for (let at = quarters - quartersPerDay; at < quarters; at++) of[at] = (of[at] as number) + 4 * usual
  const mean = (device: number, quarter: number) => series[device]?.[quarter] ?? Number.NaN
  const tagsOf = () => (seed % 2 === 0 ? ['site:one'] : [])
  return { found: fleetChanges({ devices: gaugeDevices, mean }, { tagsOf, ...gaugeChanges }), broken }
}

export const fleetGaugeProperties: readonly Property[] = Object.keys(gaugeWorlds).flatMap(world => [
  {
    name: `a device listed of a healthy fleet by ${world}`,
    atMost: 0.05,
    run: (seed: number) => listedGauges(world, seed, false).found.length > 0,
  },
  {
    name: `a device of five times the usual value first of a fleet by ${world}`,
    atLeast: 0.9,
    // Without a tag, some wind has no similar device.
    run: (seed: number) => {
      const { found, broken } = listedGauges(world, 2 * seed, true)
      return found[0]?.device === broken
    },
  },
])
