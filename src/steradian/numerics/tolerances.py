"""Every tolerance, in one table with the reason beside each.

A tolerance bounds an error, a condition, a rank, or says what is small, equal or converged. How
many nodes, steps, rows or replicates a method takes is no tolerance and stands beside the method.
Two names with one meaning are one; where two values differ, their reasons say why.

Double precision rounds at `ROUNDOFF` u = 1.1e-16. A condition c turns it into c u of a solution;
a difference of squares, and a value at its minimum, show only √u = 1e-8 of what moved them.
"""

from __future__ import annotations

from steradian.numerics.arrays import ROUNDOFF

# --- Rounding: what arithmetic alone may do -----------------------------------------------

TINY = 1e-300  # keeps a quotient by zero finite: above underflow, below all that is meant
TINY_ROOT = 1e-150  # the same where its square is divided by: that is `TINY`
TINY_MEAN = 1e-60  # length of a mean that is none: one over its cube still is a finite number
TINY_FACTOR = 1e-200  # diagonal of a triangular factor that would overflow when solved with
TINY_SINGULAR = 1e-100  # singular value that is zero: its inverse square still is a finite number
PLAIN_WEIGHTS = 1e-100, 1e100  # weights whose squares sum without overflow or underflow
LARGEST_SUMMED = 1e150  # entries whose squares still are finite
EXPONENT_ROUNDING = 4.0 * ROUNDOFF  # of λ·φ over |λ|₁: a product and a sum, and exp of them
RULE_ROUNDING = 8.0 * ROUNDOFF  # of ψ over |λ|₁ in two rules at once: twice EXPONENT_ROUNDING
LAW_MEAN_ROUNDING = 32.0 * ROUNDOFF  # of the mean of a feature over some 10⁵ nodes of cells
# Of a moment of data: sums are good to 20 of them, transforms to 200, measured in extended
# precision on spread and narrow data to degree 24.
MOMENT_ROUNDING = 256.0 * ROUNDOFF  # of a moment of data: 200 measured, and a power of two
DEGREE_MOMENT_ROUNDING = 4e-15  # of a moment per root of its degree's features: 36 roundings
UNIT_ROUNDING = 8.0 * ROUNDOFF  # of |x|² - 1 of a row just normalised: 4 spacings of doubles at 1
DUAL_ROUNDING = 1e-13  # relative, of a deficit: a thousand roundings of a sum over nodes
MISMATCH_ROUNDING = 1e-13  # of moments that agree to their rounding: several MOMENT_ROUNDING
TRANSFORM_ACCURACY = 1e-14  # of non-uniform transforms: at 1e-13 repeated rows are 1,000 u off
CONDENSED_ACCURACY = 1e-11  # of nodes in place of rows: a hundredth of what tests agree to
SLOPE_STEP = 1e-5  # of a second derivative that is wanted to a few digits: between slopes
COMPLEX_STEP = 1e-100  # of a derivative by complex numbers: its square, the error, is nothing
SMALLEST_SHARE = 2.0**-40  # of a quasi-random number, below the spacing of its sequence, 2^-30
NEGLIGIBLE_MASS = 1e-36  # of a node: its root, 1e-18, is below the rounding of a covariance's root
FELT_MASS = 1e-22  # of a node whose piece of a mesh is followed: times 10⁵ nodes still below u
HEAVY_MASS = 1e-12  # of pieces that the verifying mesh cuts: all lighter move no VERIFIED_AIM
EQUAL_COEFFICIENTS = 1e-13  # relative spread of eigenvalues that are one: of eigh, times 1000
NEGLIGIBLE_COEFFICIENT = 1e-14  # share of the largest that moves no digit of a χ² mixture's tail
NEARLY_UNIFORM_HEIGHT = 1e-8  # κ of a height that is uniform to κ / 2: no draws would show it
NEARLY_UNIFORM_DEFICIT = 1e-6  # nats below which E φφᵀ is the identity to their root, 1e-3
TINY_GAP = 1e-7  # nats below which a difference of deficits, good to 1e-13, lacks six digits
SUBTRACTED_POINT = 1e6  # κ above which A', of size 1/κ², is taken from its limit, good to 1/κ
BLURRED_START = 1e13  # nats that a law varies by, rounded to 1e-3: good enough to begin with
KEPT_BLUR = 1e-9  # nats by which rounding of harmonic parameters may blur a log-density
EQUAL_WEIGHTS = 1e-12  # spread of weights of mean one that are one: 10⁴ roundings of their sum
NOTHING = 1e-12  # nats of information of which shares would be shares of rounding
PRINTED_ROUNDING = 1e-9  # relative, of comparing with printed decimals, which have at most six

# --- Input: how far what people hand over may be off --------------------------------------

UNIT_LENGTH = 1e-6  # by which a length may miss one: seven digits were written down, or float32
ORTHOGONAL_MATRIX = 1e-6  # by which RᵀR may miss the identity: UNIT_LENGTH, for the same reason
SYMMETRIC_MATRIX = 1e-12  # relative, by which B may miss Bᵀ: computed, not written down
ANGLE_LIMIT = 1e-12  # of a quarter turn by which rounding may carry an angle beyond its range
ANGLE_ROUNDING = 1e-9  # radians that an angle of many turns may have lost: below any instrument
LEAST_SHARE = 1e-12  # of one, that is still felt beside one half
SAME_VALUE = 1e-6  # by which a feature may differ at x and -x, one axis: UNIT_LENGTH again
MEAN_LENGTH = 1e-9  # by which a mean that somebody integrated may be longer than one
VANISHING_MEAN = 1e-10  # length of a mean whose direction, good to u over it, is lost to six digits
TIED_AXES = 1e-10  # gap of second moments whose axes, good to u over it, are lost likewise
SPAN_ROUNDING = 1e-7  # root mean square off a subspace: √u, as it is summed by squares, times ten

# --- Conditioning: which matrices and rows are singular -----------------------------------

RANK = 1e-14  # relative singular value of the rows themselves that is zero: 100 roundings
ON_FLAT = 1e-9  # thickness over width of a plane: above 1e-8, a tight cluster has its own bulge
FLAT = 1e-14  # relative eigenvalue of a centred covariance that is zero: likewise
POINT = 1e-28  # squared spread of a repeated point: RANK, squared
COLLINEAR = 1e11  # condition that leaves five digits of a solution: then rounding explains failure
COLLINEAR_MOMENTS = 1e9  # second moments less squares round before they are solved: two digits more
COLLINEAR_FACTOR = 1e-6  # ratio of Cholesky diagonals: the condition is 1e12, or more
COLLINEAR_ROWS = 1e-8  # ratio of QR diagonals: the root of u; below, singular values decide
SWEPT_BLUR = 1e-11  # of log-densities, and their mean in spreads: eleven digits of an error
COLLINEAR_SWEPT = 1e3  # condition of a whitening: sums of squares lose its square, six digits
SINGULAR = 1e17  # condition beyond 1 / u: no step along Newton's path is made of anything else
EVEN_FACTOR = 1e4  # ratio of Cholesky diagonals: squaring the features, 1e8, leaves eight digits
EVEN_FACTOR_ON_THE_WAY = 1e5  # the same where later steps repair it: six digits
CONSTANT_SPREAD = 1e-12  # of a constant over its size: means over 1e5 nodes round to 3e-14 of it
DEPENDENT_FUNCTION = 1e-8  # share that functions before leave over: √u, as the rules square them
NO_LEVERAGE = 1e-13  # relative eigenvalue of a covariance of units in which none has a leverage
PROGRAMME_RIDGE = 1e-15  # relative: keeps a factorisation alive at a vertex, below every accuracy
LEAST_SECOND_MOMENT = 1e-12  # of a direction, which no grid tells from zero: 10⁶ nodes across it
LARGEST_PARAMETER = 1e12  # |η| and spread of B, whose rounding u then moves densities by 1e-4
SMALLEST_FRAME = 1e-13  # scale of the tightest data that are enlarged: 1000 roundings

# --- Convergence: when an iteration has arrived -------------------------------------------

LAST_STEP = 3e-6  # decrement from which one more full step of Newton ends at its square, 1e-11
ACCEPTED_RESIDUAL = 1e-10  # moment mismatch a converged fit may show: what its last step leaves
ROUNDED_RESIDUAL = 1e-8  # what it may show when the rounding of its exponent is that large
ACCEPTED_DECREMENT = 1e-5  # the deficit is then good to half its square, 5e-11 nats
CLEAR_RISE = 1e-10  # a rise of the dual that no rounding explains: a thousand DUAL_ROUNDING
SHORTEST_STEP = 2.0**-30  # length of a step whose change of the dual is below rounding
NODE_RESIDUAL = 1e-7  # of moments on quasi-random nodes, whose own errors are far larger: 1e-3
NEARLY_DECREMENT = 1e-6  # of a fit at a minimum to its square, 1e-12: one more step ends it
DRAWN_DECREMENT = 1e-4  # of fits to drawn samples: a step more leaves its square, 1e-12 nats
INTERPOLATED = 1e-7  # between values of a covariate: far below a standard error of any mean
DRAWN_RESIDUAL = 1e-6  # moment mismatch of such fits: far below what a sample tells
DRAWN_QUADRATURE = 1e-6  # of rules for them, in standard deviations: sharper draws have room
RESTING_DECREMENT = 1e-8  # √u: a decrement below it that no longer falls is rounding
SHARP_DECREMENT = 1e-10  # aimed at by Fisher-Bingham fits, whose gaps are relative: below √u
BINGHAM_RESIDUAL = 1e-7  # mismatch of their features at the worst conditions that are offered
BINGHAM_RELATIVE = 1e-4  # mismatch of their covariance in its own units that a far mode may explain
BINGHAM_MISSED = 0.5  # the same of a fit: more, and the mode is missing that holds the variance
BINGHAM_SHARP = 1e-9  # nats moved by rounding of moments, from which that of η and B is felt too
BINGHAM_LOST = 4e-7  # nats so moved of a deficit still reported: exact but for it, so five digits
GRID_LAST_STEP = 3e-5  # decrement whose square, 1e-9, a step leaves of moments: verified after it
LEAST_LEFT = 1e-6  # of a gradient, by conjugate gradients: below the squares of most steps
LEAST_REGION = 1e-10  # radius of a trust region that is given up: SHARP_DECREMENT
ROUGH_NODE = 1e-7  # weight, over the largest, of nodes that curvatures on the way do without
FINE_NODE = 1e-9  # the same of the last steps: above what every other node leaves, 1e-10
SADDLE_STEP = 1e-14  # relative, of Newton's method for a saddle: what is left is its square
ROUGH_CONTOUR = 1e-4  # the same of laws on the way to a fit: their moments are then good to 1e-8
WHITE_GRADIENT = 1e-9  # aimed at in white coordinates: its square is no digit of a deficit
MESH_RESIDUAL = 1e-5  # residuals of a primal-dual solution from which Newton converges in a step
MESH_MODES = 1e-2  # the same of faint modes, relative to each: Newton squares it
MESH_WHOLE = 1e-4  # log of its total mass: second order in the former, with room
RUN_OFF = 1e6  # an exponent that belongs to data on the boundary: no density is so sharp
TILT_LAST_STEP = 1e-4  # decrement of a tilt from which one more step leaves its square, 1e-8
TILT_SWEPT_STEP = 1e-6  # the same where no more than 1e-12 is left: many rows show it
TILT_SWEPT_MISMATCH = 1e-10  # of a tilted mean over many rows, of which 1e-14 is rounding
TILT_MISMATCH = 1e-6  # of the tilted mean, in standard deviations: no p-value shows it
CHORD_LAST_STEP = 1e-8  # decrement where one covariance serves all steps, each good for a digit
REFIT_LAST_STEP = 1e-3  # decrement of a replicate from which one more step leaves 1e-6
REFIT_MISMATCH = 1e-5  # of the moments of a replicate: far below its sampling error
RIDGE_STATIONARY = 1e-9  # moment mismatch beyond the penalty: ten ACCEPTED_RESIDUAL, solved once
RESTING_DESCENT = 1e-15  # gain, over the norm of the function, of a descent that is over: ten u

# --- Resolution: when an integral is known ------------------------------------------------

QUADRATURE_TOLERANCE = 1e-12  # nats of a grid's own estimate: where its rounding begins
ROUNDED_QUADRATURE = 1e-8  # what rounding of large exponents may make of the former
USABLE_QUADRATURE = 1e-6  # nats: values worth comparing, a fit worth starting from
CONTOUR_AGREEMENT = 1e-10  # of a contour with fewer nodes: moments of many scales lag behind e^ψ
GRID_CONTOUR = 1e-12  # nats, relative above one, by which grid and contour of one law may differ
VERIFIED_AIM = 1e-11  # nats between two rules or meshes that is aimed at: ten times their rounding
VERIFIED_DIFFERENCE = 1e-9  # and with which a fit is still given, and reported
RULE_MARGIN = 1.5  # times what two rules differ by is stated: 1.4 times was measured
PRODUCT_RULE = 1e-5  # the same of the finest product rule in four and five dimensions, reported
DRAWN_DIFFERENCE = 0.02  # the same where integrals are means over 131,072 draws: three errors
FAINT_MODE = 1e-6  # mass of a mode that nodes need not see: far below errors of quasi-random nodes
USABLE_RULE = 1e-4  # difference of two rules below which a fit is worth starting from
MESH_CLOSE = 1e-7  # mass that a mesh may miss near the end, by an estimate on the safe side
BALL_EDGE = 1e-9  # radians from the edge of the ball, where logs of the density may be infinite
SAME_POINT = 1e-9  # distance of neighbours that are one point to a mesh, whose pieces are larger
RELEASED_MASS = 1e-6  # on anchors, from which they are let go: their pull is below MESH_RESIDUAL
REFIT_UNRESOLVED = 1e-4  # nats of a replicate: its square is compared to one in a hundred
REFIT_SEEN = 1e-6  # nats of a replicate whose features are whitened: its scores are off by as much
FAIR_RULE = 1e-2  # by which a rule may miss that features are orthonormal, to begin on it
KERNEL_VALUE = 1e-13  # share of a kernel that the value of an MMD may leave out: rounding
KERNEL_LAW = 1e-4  # and that its null law may: no p-value shows it
KERNEL_PAIRS = 1e-9  # relative, of the mean of a kernel over pairs: of order 1/n, so far below it

DIFFERENCE_STEP = 1e-4  # of parameters, for a covariance: its square, 1e-8, is the error

SMOOTH_REFERENCE = 1e-11  # of mass and moments of a density between two rules: VERIFIED_AIM
ROUGH_REFERENCE = 1e-3  # nats between rules of a density with edges: the noise of a sample decides
GEOMETRIC_REFERENCE = 1e-2  # of such differences, rule by rule, that rules end: a kink's fall by ⅓
EDGE_MASS = 1e-5  # of a peak between nodes, where an edge costs the same: what a node carries
ROUGH_MARGIN = 3.0  # times what rules of many pixels differ by is stated: twice does not hold
BASIS_AGREED = 1e-10  # of mean products of features between two rules: below CONTRACT_ORTHONORMAL
BREAK_APART = 1e-12  # of heights on the sphere that are one: where rounding would lose a ring
CONCENTRIC = 1e-12  # sine of the angle between axes that are one: arcs end at u over it
SHAPE_EDGE = 1e-14  # of a height that lies on the edge of a shape: a hundred roundings
UNSEEN_PIXEL = 1e-6  # relative, of the mark of pixels nobody looked at: maps are in float32

# --- Existence: when does a moment lie on the boundary ------------------------------------
# Singular values are those of rows scaled to the largest; eigenvalues of Gram matrices are their
# squares, so that rounding near 1e-16 of the rows is seen as 1e-16 of an eigenvalue too, after the
# sum over the rows has rounded it once more.

GRAM_CLEAR = 1e-11  # Gram eigenvalue, from moments, beyond doubt whatever the rounding of sums
LEVERAGE = 1.0 - 1e-6  # of an atom that may carry a direction alone: the others are looked at then
CERTIFIED = 1e-8  # a certificate below zero, or above it on the support: the root of rounding
SQUARE_ROUNDING = 1e-12  # eigenvalue of a form, or value of an affine function of one: 100 RANK
STEEP = 1e-5  # slope of a root at its zero: where it is of second order, RANK leaves 1e-7 or less
ROOT_CLEAR = 1e-6  # singular value beside zeros: powers of a spread leap to RANK only below 1e-8
ON_ZEROS = 2e-14  # distance from a zero of a row that lies on it: 100 roundings of coordinates
CONTACT_NULL = 4e-15  # singular value of contact conditions that a function meets to rounding
CONTACT_CLEAR = 2e-13  # … that no function meets, rounding or not; between the two none is claimed
DEEP = 1e-7  # every candidate dips so far, for ∫ f dν = 1: ten times CERTIFIED
FLAT_ZERO = 1e-6  # curvature of a zero over the other, along a curve of zeros that is looked for
PROVEN = 1e-13  # lower bound of a function over its size that is positive: ten of its roundings
SAFE = 1e-9  # a dip that counts as none: a tenth of CERTIFIED
MARGIN_ROUNDING = 1e-13  # of a margin in closed form from moments alone
MARGIN_PROGRAMME = 1e-8  # of a margin that a programme finds from moments alone: ten times SAFE
NEARLY = 1e-8  # margin below which the fit exists but hardly: CERTIFIED, as a mean
NODE_ACCURACY = 1e-11  # of a programme on nodes or points: a hundredth of SAFE
PROGRAMME_ROUGH = 1e-5  # of the first programmes of a margin: their functions are cut again anyway
PROGRAMME_EXACT = 1e-12  # of the last: a thousandth of SAFE, a thousand PROGRAMME_RIDGE
HELD_MULTIPLIER = 1e-6  # share of all multipliers of a condition that is dropped if it has less
LEAST_BEND = 1e-4  # times level²: curvature of a bottom not believed; true ones have level²
LEAST_LIFT = 1e-6  # of a curvature condition beside a zero: DEEP stays below it
NODE_TOUCHING = 1e-8  # mean over maximum of a function that vanishes on data: CERTIFIED
NODE_NEAR = 1e-6  # the same, of moments that are looked at again: a hundred times that
NODE_VANISHING = 1e-10  # negative part of such a function over its maximum: a hundredth of it
MARGIN_FINISHED = 1e-5  # slack of a margin whose programme counts as finished: it shows five digits
MARGIN_EVEN = 1.0 - 1e-6  # margin above which nothing is thin: those digits are all nines
MARGIN_THIN = 1e-4  # share of the uniform law in the moments that is close to none
ANTIPODAL = 1e-12  # length of the sum of two points that are opposite: UNIT_ROUNDING with room
ROUND_QUADRIC = 1e-10  # by which eigenvalues of a surface of revolution may differ
NEARLY_ON_CIRCLE = 1e-4  # distance from a circle that is worth saying: a hundredth of a degree
CONSTANT_FUNCTION = 1e-16  # squared |λ| of a function as good as constant: u

# --- Statistics and reports: what people are told -----------------------------------------

GOOD_DEFICIT = 1e-8  # nats of numerical error that no table shows
USABLE_DEFICIT = 1e-6  # nats: the last digit shown; also what rounding of moments may move
HOPELESS_DEFICIT = 1e-5  # nats of rounding on a mesh that is still coarse: ten of the former on any
NO_SHAPE = 1e-6  # parameters of a law that looks uniform, and heights of a top that has no side
TOP_REACHED = 1e-10  # step towards a top that moves no more: its square is below rounding
ELLIPSE_EDGE = 1e-9  # relative, of the multiplier of an ellipse: any one gives an upper bound
SHUFFLED_TIE = 1e-9  # standard deviations, of a statistic of the same groups again: sums of rows
SPREADLESS = 1e-13  # of the second moments that a variance is the difference of: their rounding
OFF_DIAGONAL_TAIL = 1e-6  # p-value below which the tail of a score off the diagonal is not known
CUMULANT_ROUNDING = 1e-12  # relative, of a cumulant that is a difference of sums over pairs
REPEATS_BY_CHANCE = 1e-6  # probability of as many repeated rows as rounding makes: no false alarm
WHOLE_NUMBER = 1e-6  # of a number that is whole but for rounding, relative to its size
NEGLIGIBLE_NODE = 1e-9  # mass of a node, over the largest, that no basin of a mode needs
BEYOND_DOUBT = 1e-8  # exact p-values below it are not bootstrapped: 10⁸ replicates would not tell

# --- Contracts: what objects of other people are held to --------------------------------------

CONTRACT_SAME = 1e-10  # two ways to the same number, over its size: sums of thousands of roundings
CONTRACT_TURNED = 1e-8  # features of rotated points, whose rounding grows with their degree
CONTRACT_ORTHONORMAL = 1e-9  # means and products under a rule that resolves them: its own error
RULE_MASS = 1e-12  # by which weights of a rule may miss one, or a symmetry the identity, per root
CONTRACT_INTEGRAL = 1e-7  # two ways to an integral, by rules that need not be the same
CONTRACT_SOLVED = 1e-6  # moments and deficit of a fit: what is reported as usable, USABLE_DEFICIT
CONTRACT_SLOPE = 1e-5  # differences of ψ against the mean: their step is 1e-4, with its square
CONTRACT_CURVATURE = 1e-4  # differences of the mean against the covariance: a digit less than ψ

# --- what is printed ---------------------------------------------------------------------------
POINTS_NOWHERE = 1e-9  # length of a mean whose direction would be rounding of the moments
EQUAL_SIZE = 1e-9  # relative, of Kish's size and n where weights are equal: rounding of n terms
PLAIN_DECIMALS = 1e-4  # below which a number is printed with an exponent: five places are too many
LEAST_ERROR = 1e-15  # nats: no arithmetic is said to be better than a few roundings of one
SMALLEST_PVALUE = 1e-300  # tails below which doubles are subnormal, and print as a bound
