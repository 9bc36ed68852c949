/** The parts that panels share, and their names. */

import type { Panel } from '../../../auth/views/panel.ts'
import { capitalised, listed } from '../../text/phrases.ts'
import { builtInQuantities } from '../../text/quantities.ts'
import type { Zone } from '../../text/zone.ts'
import type { Times } from '../../theme/times.ts'
import { t, tc, words } from '../../words/words.ts'
import type { Live } from './use-live.ts'

export interface PanelContext {
  readonly live: Live
  readonly zone: Zone
  readonly times: Times
  readonly scale: number
  readonly everyMs: number
}

export interface PanelProps {
  readonly panel: Panel
  readonly context: PanelContext
  readonly size: { readonly width: number; readonly height: number }
}

/** Both limits equal the ones in `auth/views/panel.ts`. */
export const panelsMax = 12
export const linesMax = 8

/** Keys have the order of the form. */
export const kindNames = {
  line: tc('panel', 'Line'),
  bars: t('Bars'),
  value: t('Value'),
  state: t('States over time'),
  map: t('Map'),
  findings: t('Findings'),
  list: t('List of devices'),
} as const satisfies Record<Panel['kind'], string>

/** The function equals `isMeasuring` of the service. */
export function isMeasured(kind: Panel['kind']): boolean {
  return kind === 'line' || kind === 'bars' || kind === 'value' || kind === 'state'
}

const rangeNames = {
  '1h': t('last hour'),
  '6h': t('last 6 hours'),
  '24h': t('last 24 hours'),
  '7d': t('last 7 days'),
  '30d': t('last 30 days'),
  '365d': t('last year'),
} as const satisfies Record<Panel['range'], string>
export const rangeEntries = Object.entries(rangeNames) as [Panel['range'], string][]

/** The person's title, or one of the content. */
export function titleOf({ kind, title, devices, metrics, range, tags, search }: Panel): string {
  if (title !== '') return title
  if (isMeasured(kind)) {
    // A panel has its title before the answers that describe custom metrics.
    const names = metrics.map(metric => capitalised(builtInQuantities.of(metric).name.replaceAll('_', ' ')))
    const text = `${devices.join(', ')}: ${listed(names.map((name, place) => (place === 0 || words.language !== 'en' ? name : name.toLowerCase())))}`
    return kind === 'value' ? text : `${text}, ${rangeNames[range]}`
  }
  if (kind === 'findings')
    return devices.length === 0 ? t('Findings') : t('Findings: {list}', { list: devices.join(', ') })
  const selection = [...tags, ...(search === '' ? [] : [`“${search}”`])].join(', ')
  return `${kind === 'map' ? t('Map') : t('Devices')}${selection === '' ? '' : `: ${selection}`}`
}
