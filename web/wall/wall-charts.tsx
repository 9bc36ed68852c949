/** The lines of a view of charts, each with its last value, above one chart that fills the screen. */

import { useMemo } from 'preact/hooks'
import { withAnnotations } from '../charts/annotation-marks.ts'
import { AnnotationText } from '../charts/annotations.tsx'
import { ChartStack } from '../charts/chart-stack.tsx'
import { LineKey } from '../charts/panel-values.tsx'
import { useRange } from '../charts/use-range.ts'
import { urlArguments } from '../client/address.ts'
import { serverNowMs } from '../client/clock.ts'
import { useSize } from '../client/screen.ts'
import { useServiceZone } from '../client/use-service-zone.ts'
import { type ChosenLine, chartPresets, chosenLines, lineText } from '../pages/charts/chosen-lines.ts'
import { type DrawnLine, linePanels, looksOf, sharedHeight } from '../pages/charts/line-panels.ts'
import { type LineAnnotations, type UsedLines, useLineAnnotations, useLines } from '../pages/charts/use-lines.ts'
import { Skeleton } from '../parts/loading.tsx'
import { StateBadge } from '../parts/marks.tsx'
import { shownZone } from '../text/preferences.ts'
import { measure, nameWithin, quantitiesOf } from '../text/quantities.ts'
import { ageText, createTimes } from '../text/times.ts'
import { createZone } from '../text/zone.ts'
import type { Times } from '../theme/times.ts'
import { countText, t } from '../words/words.ts'
import { WallFrame, wallScale } from './wall-frame.tsx'

const everyMs = 10_000

export function WallCharts({ name }: { name: string }) {
  const lines = chosenLines(urlArguments.value)
  const looks = looksOf(lines)
  const shown = useRange(chartPresets)
  const used = useLines(lines, shown.window, everyMs)
  const timeZone = useServiceZone()
  const annotations = useLineAnnotations(used.drawn, shown.window)
  const clock = shownZone(timeZone ?? 'UTC')
  const times = createTimes(clock)
  const zone = createZone(clock)
  return (
    <WallFrame {...{ name, times }} state={used.current}>
      <ul class="wall-lines" aria-label={t('Lines')}>
        {lines.map((line, place) => (
          <Line key={lineText(line)} {...{ line, used }} look={looks[place] as DrawnLine['look']} />
        ))}
      </ul>
      {used.drawn.length === 0 && used.isLoading ? <Skeleton name={t('The readings are loading')} /> : null}
      {used.drawn.length === 0 && !used.isLoading ? (
        <p class="none-here">{t('There are no readings in this range.')}</p>
      ) : null}
      {used.drawn.length === 0 || timeZone === undefined ? null : (
        <Chart {...{ used, shown, zone, times }} written={annotations.shown} />
      )}
      <WallAnnotations {...{ annotations, times }} />
    </WallFrame>
  )
}

function Line({ line, look, used }: { line: ChosenLine; look: DrawnLine['look']; used: UsedLines }) {
  const latest = used.latest.get(line.device)
  const quantity = quantitiesOf(latest?.metrics).of(line.metric)
  const value =
    latest !== undefined && Object.hasOwn(latest.values, line.metric) ? latest.values[line.metric] : undefined
  return (
    <li>
      <p>
        <LineKey {...look} /> {line.device}, {nameWithin(quantity)}
      </p>
      {value === undefined ? (
        <p>
          {used.missing.includes(line)
            ? t('There is no such device, or it has no values of such a gauge.')
            : t('Loading')}
        </p>
      ) : (
        <>
          <p class="wall-value">{measure(value.v, quantity)}</p>
          <p class="wall-state">
            {latest === undefined ? null : <StateBadge state={latest.state} />}{' '}
            <span>{ageText(serverNowMs.value - value.ts)}</span>
          </p>
        </>
      )}
    </li>
  )
}

interface ChartProps {
  used: UsedLines
  /** Annotations. */
  written: LineAnnotations['shown']
  shown: ReturnType<typeof useRange>
  zone: ReturnType<typeof createZone>
  times: ReturnType<typeof createTimes>
}

function Chart({ used: { drawn, stepMs }, written, shown: { window, nowMs }, zone, times }: ChartProps) {
  const { place, size } = useSize()
  const scale = wallScale(size.width)
  const panels = useMemo(() => {
    const made = linePanels(
      drawn.filter(({ values }) => values.length > 0),
      stepMs,
    )
    const annotated = made.map(panel => withAnnotations(panel, written))
    return sharedHeight(annotated, size.height, scale)
  }, [drawn, stepMs, written, size.height, scale])
  return (
    <div class="wall-chart" ref={place} style={{ '--wall-scale': scale }}>
      <h2 class="unseen">{t('Chart')}</h2>
      {size.width === 0 ? null : (
        <ChartStack
          {...{ panels, window, nowMs, zone, times, scale }}
          label={t('The lines of the view')}
          onWindow={() => undefined}
          onReset={() => undefined}
        />
      )}
    </div>
  )
}

const shownMax = 3

function WallAnnotations({ annotations, times }: { annotations: LineAnnotations; times: Times }) {
  const { shown, total, hasNames, unread } = annotations
  if (shown.length === 0 && unread.length === 0) return null
  const newest = shown.slice(-shownMax).reverse()
  return (
    <section class="wall-annotations annotations" aria-label={t('Annotations')}>
      <ul>
        {newest.map(annotation => (
          <li key={annotation.id}>
            <AnnotationText {...{ annotation, times, hasNames }} />
          </li>
        ))}
      </ul>
      {total === newest.length ? null : (
        <p class="who">{leftOutSentence(countText(newest.length), countText(shown.length), countText(total))}</p>
      )}
      {unread.length === 0 ? null : (
        <p class="who">{t('The annotations of {list} could not be read.', { list: unread.join(', ') })}</p>
      )}
    </section>
  )
}

/** Listed below the chart, drawn in it, and present in its range. */
function leftOutSentence(listed: string, drawn: string, total: string): string {
  return drawn === total
    ? t('The newest {listed} of {total} annotations in this range.', { listed, total })
    : t('The newest {listed} of {total} annotations in this range; the chart has the newest {drawn}.', {
        listed,
        total,
        drawn,
      })
}
