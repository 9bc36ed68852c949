/** Shows up to eight lines of several devices and metrics in one chart. The address holds the choice. */

import './charts-page.css'
import { useId, useMemo, useState } from 'preact/hooks'
import type { LatestOfDevice } from '../../../query/live/fleet-shape.ts'
import { annotationTable } from '../../charts/annotation-marks.ts'
import { AnnotationText, LeftOutAnnotations } from '../../charts/annotations.tsx'
import { ChartStack } from '../../charts/chart-stack.tsx'
import { LineKey } from '../../charts/panel-values.tsx'
import { RangeControls } from '../../charts/range-controls.tsx'
import { TableTwin } from '../../charts/table-twin.tsx'
import { type ShownRange, useRange } from '../../charts/use-range.ts'
import { addressOf, setArguments, urlArguments } from '../../client/address.ts'
import { devicePath } from '../../client/routes.ts'
import { useTitle } from '../../client/tab.ts'
import { useResource } from '../../client/use-resource.ts'
import { useServiceZone } from '../../client/use-service-zone.ts'
import { DeviceField } from '../../parts/fields.tsx'
import { PageFailure, Skeleton } from '../../parts/loading.tsx'
import { RowButton } from '../../parts/record.tsx'
import { shownZone } from '../../text/preferences.ts'
import { nameWithin, quantitiesOf } from '../../text/quantities.ts'
import { createTimes } from '../../text/times.ts'
import { createZone } from '../../text/zone.ts'
import type { Times } from '../../theme/times.ts'
import { t } from '../../words/words.ts'
import { type ChosenLine, chartPresets, chosenLines, linesMax, lineText } from './chosen-lines.ts'
import { annotatedPanels, type DrawnLine, linePanels, lineTable, looksOf } from './line-panels.ts'
import { type LineAnnotations, type UsedLines, useLineAnnotations, useLines } from './use-lines.ts'

export function ChartsPage() {
  useTitle(t('Charts'))
  const fields = urlArguments.value
  const lines = chosenLines(fields)
  const shown = useRange(chartPresets)
  const used = useLines(lines, shown.window)
  const timeZone = useServiceZone()
  const isTooMany = new Set(fields.getAll('line')).size > linesMax
  return (
    <>
      <h1>{t('Charts')}</h1>
      <p class="lead">{t('Gauges of one or several devices in one chart, at most {linesMax} lines.', { linesMax })}</p>
      {lines.length < linesMax ? (
        <LineChooser
          isChosen={line => lines.some(one => lineText(one) === lineText(line))}
          onAdd={line => show([...lines, line])}
        />
      ) : null}
      {isTooMany ? (
        <p class="none-here">{t('Only the first {linesMax} lines of the address are shown.', { linesMax })}</p>
      ) : null}
      <Lines lines={lines} used={used} />
      {lines.length === 0 ? <p class="none-here">{t('Choose a device and one of its metrics.')}</p> : null}
      {timeZone === undefined || lines.length === 0 ? null : <Shown {...{ used, shown, timeZone }} />}
    </>
  )
}

function show(lines: readonly ChosenLine[]): void {
  setArguments({ line: lines.map(lineText) })
}

/** The chosen lines, including those without values. */
function Lines({ lines, used }: { lines: readonly ChosenLine[]; used: UsedLines }) {
  if (lines.length === 0) return null
  const looks = looksOf(lines)
  return (
    <ul class="chosen-lines" aria-label={t('Lines')}>
      {lines.map((line, place) => {
        const drawn = used.drawn.find(one => one.place === place)
        const isMissing = used.missing.includes(line)
        const name = nameWithin(drawn?.quantity ?? quantitiesOf().of(line.metric))
        return (
          <li key={lineText(line)}>
            <LineKey {...(looks[place] as DrawnLine['look'])} />
            <span>
              <a href={addressOf(devicePath(line.device))}>{line.device}</a>, {name}
              {isMissing ? t(': there is no such device, or it has no values of such a gauge') : null}
            </span>
            <RowButton
              name={`${line.device}, ${name}`}
              text={t('Remove')}
              onClick={() => show(lines.filter(one => one !== line))}
            />
          </li>
        )
      })}
    </ul>
  )
}

interface ShownProps {
  used: UsedLines
  shown: ShownRange
  timeZone: string
}

function Shown({ used, shown, timeZone }: ShownProps) {
  const { state, drawn, isLoading, stepMs } = used
  const { window, nowMs, choose, zoomTo } = shown
  const clock = shownZone(timeZone)
  const zone = createZone(clock)
  const times = createTimes(clock)
  const annotations = useLineAnnotations(drawn, window)
  const lined = useMemo(() => linePanels(drawn.filter(hasValues), stepMs), [drawn, stepMs])
  const panels = useMemo(
    () => annotatedPanels(lined, annotations, { window, times }),
    [lined, annotations.shown, annotations.hasNames, window, times],
  )
  const tables = () => [
    lineTable(drawn, window, times),
    ...(annotations.shown.length === 0 ? [] : [annotationTable(annotations.shown, times)]),
  ]
  return (
    <section class="card" aria-labelledby="chart">
      <div class="section-head">
        <h2 id="chart">{t('Chart')}</h2>
        <RangeControls presets={chartPresets} {...{ shown, zone }} />
      </div>
      <PageFailure state={state} timeText={times.time} />
      {panels.length === 0 && isLoading ? <Skeleton name={t('The readings are loading')} rows={8} /> : null}
      {panels.length === 0 && !isLoading ? <p class="none-here">{t('There are no readings in this range.')}</p> : null}
      {panels.length === 0 ? null : (
        <>
          <ChartStack
            {...{ panels, window, nowMs, zone, times }}
            label={t('The chosen lines')}
            onWindow={zoomTo}
            onReset={() => choose('24h')}
          />
          <p class="lead">{t('Means by steps of time. Times: {zone}.', { zone: times.zone })}</p>
        </>
      )}
      <AnnotationList {...{ annotations, times }} />
      {panels.length === 0 ? null : <TableTwin name={t('the chosen lines')} tables={tables} />}
    </section>
  )
}

function hasValues({ values }: DrawnLine): boolean {
  return values.length > 0
}

function AnnotationList({ annotations, times }: { annotations: LineAnnotations; times: Times }) {
  const { shown, total, hasNames, unread } = annotations
  if (shown.length === 0 && unread.length === 0) return null
  return (
    <section class="annotations" aria-labelledby="annotations">
      <h3 id="annotations">{t('Annotations')}</h3>
      {unread.length === 0 ? null : (
        <p class="none-here">{t('The annotations of {list} could not be read.', { list: unread.join(', ') })}</p>
      )}
      <ul>
        {shown.map(annotation => (
          <li key={annotation.id}>
            <AnnotationText {...{ annotation, times, hasNames }} />
          </li>
        ))}
      </ul>
      <LeftOutAnnotations {...{ shown, total }} />
    </section>
  )
}

interface LineChooserProps {
  readonly isChosen: (line: ChosenLine) => boolean
  readonly onAdd: (line: ChosenLine) => void
}

function LineChooser({ isChosen, onAdd }: LineChooserProps) {
  const id = useId()
  const [device, setDevice] = useState('')
  const url = device === '' ? undefined : addressOf(`/api/latest/${encodeURIComponent(device)}`)
  const latest = useResource<LatestOfDevice>(url)
  const [chosen, setChosen] = useState('')
  const known = latest.kind === 'ready' || latest.kind === 'stale' ? latest.value : undefined
  const quantities = quantitiesOf(known?.metrics)
  const gauges = Object.keys(known?.values ?? {}).filter(name => quantities.of(name).kind === 'gauge')
  const free = gauges.filter(metric => !isChosen({ device, metric }))
  const metric = free.includes(chosen) ? chosen : free[0]
  return (
    <form
      class="choice"
      aria-label={t('Add a line')}
      onSubmit={event => {
        event.preventDefault()
        if (metric !== undefined) onAdd({ device, metric })
      }}
    >
      <DeviceField label={t('Device')} value={device} onChoose={setDevice} />
      <label class="device-field" for={id}>
        {t('Metric')}
        <select
          id={id}
          value={metric ?? ''}
          disabled={free.length === 0}
          onChange={({ currentTarget }) => setChosen(currentTarget.value)}
        >
          {free.map(name => (
            <option key={name} value={name}>
              {quantities.of(name).name}
            </option>
          ))}
        </select>
      </label>
      <button type="submit" class="button strong" disabled={metric === undefined}>
        {t('Add')}
      </button>
      <p class="chooser-note" role="status">
        {noteOf(latest.kind, device, gauges.length, free.length)}
      </p>
    </form>
  )
}

function noteOf(kind: string, device: string, gauges: number, free: number): string {
  if (device === '') return ''
  if (kind === 'failed') return t('There is no device of this name.')
  if (kind === 'loading') return ''
  if (gauges === 0) return t('This device has no values of gauges.')
  return free === 0 ? t('All gauges of this device are in the chart.') : ''
}
