/** What the demo prints when it is ready: where to look, from another terminal and in a browser. */

import type { DemoAccount } from './air-quality/account.ts'
import { airStations } from './air-quality/stations.ts'

const dayMs = 86_400_000

export function addressesOf(url: string, timeZone: string, nowMs: number): string[] {
  const today = new Intl.DateTimeFormat('sv-SE', { timeZone }).format(nowMs)
  return [
    'Look at it, from another terminal:',
    `  curl -s ${url}/api/latest/all/24`,
    `  curl -s ${url}/api/data/day/alamosa/${today}`,
    `  curl -s ${url}/api/device/mountain-hut`,
    `  curl -s ${url}/api/stats_data/greensboro`,
    `  curl -s ${url}/api/detail_data/alamosa`,
    `  curl -s '${url}/api/daily_summary/greensboro?days=7'`,
    `  curl -s ${url}/api/past_window_data/greensboro`,
    `  curl -s '${url}/api/compare_data?a=greensboro&b=sand-point&preset=30d'`,
    `  curl -s '${url}/api/v1/contentfiles/?offered_by=ocw&limit=2'`,
    `  curl -s ${url}/health/ready`,
    `  curl -s ${url}/metrics`,
    '  npx barograph devices list',
    '',
    `In a browser: ${url}/api/v1/contentfiles/?format=api`,
  ]
}

/** The key stands in `keyFile` too. */
export function airQualityAddressesOf(
  url: string,
  { email, password, key }: DemoAccount,
  keyFile: string,
  nowMs: number,
): string[] {
  const [day, nextDay] = [nowMs - dayMs, nowMs].map(timeMs => new Date(timeMs).toISOString().slice(0, 10))
  const base = `${url}/api/v1.0`
  const [open, own] = [false, true].map(isPrivate => airStations.find(station => station.private === isPrivate)?.sn)
  return [
    `Two air-quality stations, ${open} (public) and ${own} (private), of ${email}, whose API key is in ${keyFile}:`,
    `  KEY=${key}`,
    `  curl -s -u $KEY: ${base}/device/`,
    `  curl -s -u $KEY: ${base}/device/${open}/latest`,
    `  curl -s -u $KEY: '${base}/device/${own}/data/?filter=parameter,eq,o3&sort=timestamp,desc&per_page=5'`,
    `  curl -s -u $KEY: '${base}/device/${open}/data/?filter=timestamp,ge,${day};timestamp,lt,${nextDay}&format=csv'`,
    `In a browser: ${url}/account as ${email} with the password ${password}`,
  ]
}
