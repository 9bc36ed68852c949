/** Names of the ways by which readings arrive. */

import type { Attempt } from '../../api/read/contact-shape.ts'

export const wayNames: Readonly<Record<Attempt['way'], string>> = {
  put: 'PUT',
  batch: 'Batch',
  line_protocol: 'Line protocol',
  mqtt: 'MQTT',
  webhook: 'Webhook',
  import: 'Import of readings',
  import_points: 'Import of points',
  air_quality: 'Air quality',
}
