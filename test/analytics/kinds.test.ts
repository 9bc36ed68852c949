/** Kinds of metrics: counters, rates, directions, states, derived and downsampled values. */

import './kinds/counter.ts'
import './kinds/derived.ts'
import './kinds/direction.ts'
import './kinds/direction-agreement.ts'
import './kinds/domain.ts'
import './kinds/downsample.ts'
import './kinds/pressure-tendency.ts'
import './kinds/rate.ts'
import './kinds/state.ts'
import './kinds/state-agreement.ts'
