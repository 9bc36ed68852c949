/**
 * An autoregressive process about 0: coefficients by Yule and Walker's equations, solved by Levinson's recursion, of the
 * order with the smallest AIC (Brockwell and Davis, Time Series: Theory and Methods, 8.1 and 9.3).
 */

const orderMax = 26

/** Coefficients of the last value, the one before it, …; none when nothing varies. */
export function fitAutoregression(values: Float64Array): Float64Array {
  const order = Math.min(orderMax, Math.floor(values.length / 4))
  const covariances = Float64Array.from({ length: order + 1 }, (_, lag) => covariance(values, lag))
  let variance = covariances[0] as number
  let coefficients = new Float64Array(0)
  let best = coefficients
  let bestAic = aicOf(values.length, variance, 0)
  for (let p = 1; p <= order && variance > 0; p++) {
    let partial = covariances[p] as number
    for (let j = 1; j < p; j++) partial -= (coefficients[j - 1] as number) * (covariances[p - j] as number)
    const last = partial / variance
    const next = new Float64Array(p)
    for (let j = 1; j < p; j++) {
      next[j - 1] = (coefficients[j - 1] as number) - last * (coefficients[p - j - 1] as number)
    }
    next[p - 1] = last
    coefficients = next
    variance *= 1 - last * last
    const aic = aicOf(values.length, variance, p)
    if (aic < bestAic) {
      best = coefficients
      bestAic = aic
    }
  }
  return best
}

/** The next values, each from those before it. */
export function extendAutoregression(values: Float64Array, coefficients: Float64Array, count: number): Float64Array {
  const order = coefficients.length
  const all = new Float64Array(order + count)
  all.set(values.subarray(values.length - order))
  for (let place = order; place < all.length; place++) {
    let next = 0
    for (let lag = 1; lag <= order; lag++) next += (coefficients[lag - 1] as number) * (all[place - lag] as number)
    all[place] = next
  }
  return all.subarray(order)
}

/** Divided by the number of values at each lag, so that the process is stationary. */
function covariance(values: Float64Array, lag: number): number {
  let sum = 0
  for (let place = lag; place < values.length; place++) {
    sum += (values[place] as number) * (values[place - lag] as number)
  }
  return sum / values.length
}

function aicOf(count: number, variance: number, order: number): number {
  return variance > 0 ? count * Math.log(variance) + 2 * (order + 1) : Number.POSITIVE_INFINITY
}
