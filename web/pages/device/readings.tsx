/** The charts of readings over a range, and the ways to change it. */

import type { ComponentChildren } from 'preact'
import { useMemo } from 'preact/hooks'
import { annotationPanel, annotationTable, marksOf, withAnnotations } from '../../charts/annotation-marks.ts'
import { ChartStack } from '../../charts/chart-stack.tsx'
import type { Panel } from '../../charts/panel.ts'
import type { Preset } from '../../charts/range.ts'
import { RangeControls } from '../../charts/range-controls.tsx'
import { TableTwin } from '../../charts/table-twin.tsx'
import type { ShownRange } from '../../charts/use-range.ts'
import { addressOf } from '../../client/address.ts'
import { FileNote } from '../../parts/notes.tsx'
import type { Quantities } from '../../text/quantities.ts'
import type { Zone } from '../../text/zone.ts'
import type { Times } from '../../theme/times.ts'
import { t, tp } from '../../words/words.ts'
import { chartPath, linesMax } from '../charts/chosen-lines.ts'
import { type AlertMarks, firingPanel } from './alert-marks.ts'
import { Annotations, type KnownAnnotations } from './annotations.tsx'
import type { Measured } from './answers.ts'
import { type Forecasts, forecastEndMs, forecastTable } from './forecast.ts'
import { panelOf } from './panels.ts'
import { readingsQuery } from './range-plan.ts'
import { readingsTables } from './readings-tables.ts'
import type { RangeSeries, Suspects } from './series.ts'

export interface ReadingsProps {
  readonly of: Measured
  readonly shown: ShownRange
  /** Undefined while the first answer is on its way. */
  readonly data: RangeSeries | undefined
  readonly quantities: Quantities
  readonly suspects: Suspects
  /** Empty unless the last 24 hours are shown. */
  readonly forecasts: Forecasts
  /** Undefined where none are known. */
  readonly alerts: AlertMarks | undefined
  readonly annotations: KnownAnnotations
  readonly zone: Zone
  readonly times: Times
  /** Chooses among metrics. */
  readonly children?: ComponentChildren
}

export const readingPresets: readonly Preset[] = ['1h', '6h', '24h', '7d', '30d', '365d']

export function Readings(props: ReadingsProps) {
  const { of, shown, data, quantities, suspects, forecasts, annotations, zone, times, children } = props
  const { window, nowMs, choose, zoomTo } = shown
  const panels = usePanels(props)
  const gauges = (data?.series ?? [])
    .flatMap(({ kind, metric }) => (kind === 'gauge' ? [metric] : []))
    .slice(0, linesMax)
  const hasForecast = panels.some(({ ahead }) => ahead !== undefined)
  const tables = () => [
    ...(data === undefined ? [] : readingsTables(data, suspects, { quantities, window, times })),
    ...(hasForecast ? [forecastTable(forecasts, quantities, times)] : []),
    ...(annotations.shown.length === 0 ? [] : [annotationTable(annotations.shown, times)]),
  ]
  const download = `/api/${of.pathOf('readings', readingsQuery(window, undefined, 'csv'))}`
  return (
    <section class="card" aria-labelledby="readings">
      <div class="section-head">
        <h2 id="readings">{t('Readings')}</h2>
        <RangeControls presets={readingPresets} shown={shown} zone={zone} />
      </div>
      {children}
      {data === undefined ? <div class="charts-place" /> : null}
      {data !== undefined && panels.length === 0 ? (
        <p class="none-here">{t('There are no readings in this range.')}</p>
      ) : null}
      {panels.length === 0 ? null : (
        <ChartStack
          {...{ panels, window, nowMs, zone, times }}
          untilMs={hasForecast ? forecastEndMs(forecasts) : undefined}
          label={t('Readings of {name}', { name: of.name })}
          onWindow={zoomTo}
          onReset={() => choose('24h')}
        />
      )}
      {panels.every(({ marks }) => marks === undefined) ? null : (
        <p class="lead">
          {tp('Hollow points are suspect readings: out of range, a spike, a sudden step or a flat line. {link}', {
            link: <a href={addressOf('/docs/statistics#quality')}>{t('How they are found')}</a>,
          })}
        </p>
      )}
      <BandNotes hasForecast={hasForecast} forecasts={forecasts} />
      {of.kind === 'device' ? <Annotations device={of.name} {...{ annotations, nowMs, zone, times }} /> : null}
      <div class="below">
        {data === undefined || panels.length === 0 ? null : <TableTwin name={t('readings')} tables={tables} />}
        <a class="button quiet" href={addressOf(download)} download>
          {t('Download as CSV')}
        </a>
        {of.kind === 'station' ? null : (
          <a class="button quiet" href={addressOf(`/compare?a=${encodeURIComponent(of.name)}`)}>
            {t('Compare')}
          </a>
        )}
        {of.kind === 'station' || gauges.length === 0 ? null : (
          <a class="button quiet" href={addressOf(chartPath(gauges.map(metric => ({ metric, device: of.name }))))}>
            {t('In one chart')}
          </a>
        )}
        <FileNote />
      </div>
    </section>
  )
}

/** Explains the bands around the lines. */
function BandNotes({ hasForecast, forecasts }: { hasForecast: boolean; forecasts: Forecasts }) {
  const hasUsual = [...forecasts.values()].some(({ usual }) => usual.timesMs.length > 0)
  return (
    <>
      {hasUsual ? (
        <p class="lead">
          {tp('The grey band is the usual range of hourly means, from the four weeks before. {link}', {
            link: <a href={addressOf('/docs/statistics#unusual')}>{t('How it is found')}</a>,
          })}
        </p>
      ) : null}
      {hasForecast ? (
        <p class="lead">
          {tp('Dashed lines are a forecast of hourly means. Four of five means are expected within the band. {link}', {
            link: <a href={addressOf('/docs/statistics#forecast')}>{t('How it is made')}</a>,
          })}
        </p>
      ) : null}
    </>
  )
}

/** Panels of the series, with timelines of alerts and annotations. */
function usePanels({
  shown,
  data,
  quantities,
  suspects,
  forecasts,
  alerts,
  annotations,
  times,
}: ReadingsProps): Panel[] {
  const { window } = shown
  const written = annotations.shown
  return useMemo(() => {
    const drawn = (data?.series ?? []).map(series =>
      panelOf(series, {
        quantity: quantities.of(series.metric),
        times,
        suspects: suspects.get(series.metric),
        forecast: forecasts.get(series.metric),
        stepMs: data?.stepMs,
        alerts,
      }),
    )
    if (drawn.length === 0) return []
    const timelines = [firingPanel(alerts?.firing ?? [], times), annotationPanel(marksOf(written, window, times))]
    return [...drawn.map(panel => withAnnotations(panel, written)), ...timelines.filter(panel => panel !== undefined)]
  }, [data, quantities, times, suspects, forecasts, alerts, written, window])
}
