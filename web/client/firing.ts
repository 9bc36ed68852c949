/** The alerts that fire, for who is signed in: counted in the title and the icon of the tab, on every page. */

import { computed, effect, signal } from '@preact/signals'
import type { Alert } from '../../alerts/core/alert.ts'
import { countText, t } from '../words/words.ts'
import { addressOf } from './address.ts'
import { openResource, type Resource } from './resource.ts'
import { lastValue } from './resource-state.ts'
import { isSignedIn } from './session.ts'
import { iconFiring, setTitleOfFiring } from './tab.ts'

/** A page of `GET /api/alerts`. */
export interface AlertPage {
  readonly alerts: readonly Alert[]
  readonly next: string | null
}

/** The maximum of one answer. Alerts beyond it are only counted. */
const limit = 1000
/** The poll interval while no events arrive. */
const everyMs = 60_000
/** An event is one of many where a site goes down. */
const restMs = 500

const firing = signal<readonly Alert[]>([])
/** Newest first. Empty also while nothing is known. */
export const firingAlerts = computed(() => firing.value)

/** Keys are names of devices; null for alerts without a single device. */
export const firingByDevice = computed(() => Map.groupBy(firing.value, ({ device }) => device))

let resource: Resource<AlertPage> | undefined
let timer: ReturnType<typeof setTimeout> | undefined

/** Follows firing alerts while a session exists. Call it once. */
export function followFiring(): void {
  effect(() => {
    if (!isSignedIn.value) return undefined
    const opened = openResource<AlertPage>(addressOf(`/api/alerts?state=firing&limit=${limit}`), { everyMs })
    resource = opened
    const stop = opened.state.subscribe(state => {
      firing.value = lastValue(state)?.alerts ?? []
    })
    return () => {
      stop()
      opened.close()
      resource = undefined
    }
  })
  effect(() => {
    const count = firing.value.length
    setTitleOfFiring(count === 0 ? '' : t('{count} firing', { count: countText(count) }))
    iconFiring.value = count
  })
}

/** Reads the alerts again soon after an event about one. */
export function alertChanged(): void {
  clearTimeout(timer)
  timer = setTimeout(() => void resource?.refresh(), restMs)
}
