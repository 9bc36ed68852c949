/** What is known of a station besides its points, in words. */

import type { PublicStation } from '../../../api/read/stations/station-shape.ts'

const countries = new Intl.DisplayNames('en', { type: 'region', fallback: 'code' })

/** `Delhi, India: on the roof`; empty where nothing is known. */
export function stationPlace({ city, country, location }: PublicStation): string {
  const town = [city, country === null ? null : countries.of(country)].filter(Boolean).join(', ')
  return [town, location ?? ''].filter(text => text !== '').join(': ')
}

export interface StationFact {
  readonly name: string
  readonly text: string
}

export function stationFacts(station: PublicStation): StationFact[] {
  const { model, outdoors, latitude, longitude, timezone } = station
  return [
    { name: 'Model', text: model },
    ...(outdoors === null ? [] : [{ name: 'Place', text: outdoors ? 'outdoors' : 'indoors' }]),
    ...(latitude === null || longitude === null
      ? []
      : [{ name: 'Coordinates', text: coordinates(latitude, longitude) }]),
    { name: 'Time zone', text: timezone },
    { name: 'Shown to', text: station.private ? 'its owner and administrators' : 'everybody who may read here' },
  ]
}

/** `28.6257° N, 77.2090° E`, to some ten metres. */
function coordinates(latitude: number, longitude: number): string {
  const text = (degrees: number, [positive, negative]: readonly [string, string]) =>
    `${Math.abs(degrees).toFixed(4)}°\u202f${degrees < 0 ? negative : positive}`
  return `${text(latitude, ['N', 'S'])}, ${text(longitude, ['E', 'W'])}`
}
