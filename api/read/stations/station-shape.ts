/** Declares the answer of `GET /api/stations/<sn>`. */

import type { z } from 'zod'
import { StationDetails } from '../../../auth/stations/station.ts'

export const PublicStation = StationDetails.pick({
  sn: true,
  model: true,
  city: true,
  country: true,
  location: true,
  latitude: true,
  longitude: true,
  outdoors: true,
  timezone: true,
  private: true,
})
export type PublicStation = z.infer<typeof PublicStation>
