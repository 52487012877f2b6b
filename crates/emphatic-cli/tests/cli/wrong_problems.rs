//! Wrong problem files: the message of `emphatic solve` about each.
//!
//! A file that is wrong ends with code 1 and a message that points at the place. The snapshots hold all messages, to be
//! read as a user reads them.

use crate::common::{self, ended_in, message, messages_in, succeeded};
use std::fs;

const PROBLEM: &str = r#"states = ["S0", "S1", "S2"]
actions = ["A0", "A1"]
start = "S0"
gamma = 0.9
behaviour = { A0 = 0.25, A1 = 0.75 }
target = { A0 = 0.9, A1 = 0.1 }
interest = 1.0
transitions = [
  { from = "S0", action = "A0", to = "S1" },
  { from = "S0", action = "A1", to = "S2", probability = 0.5 },
  { from = "S0", action = "A1", to = "S1", probability = 0.5 },
  { from = "S1", action = "A0", reward = 2.0, end = true },
  { from = "S1", action = "A1", end = true },
  { from = "S2", action = ["A0", "A1"], reward = 1.0, end = true },
]
[features]
actor = { alias = [["S1", "S2"]] }
critic = "states"
"#;

/// The lines of the good file that are replaced.
const FIRST: &str = r#"  { from = "S0", action = "A0""#;
const SECOND: &str = r#"  { from = "S0", action = "A1", to = "S1""#;
const END: &str = r#"  { from = "S1", action = "A1""#;

/// The name of a case, the beginning of a line of the good file, and what replaces that line.
type Case<'a> = (&'a str, &'a str, &'a str);

const LISTED: &[Case] = &[
    // Keys.
    ("unknown key", "gamma", "discount = 0.9"),
    ("unknown key in a transition", FIRST, r#"  { from = "S0", action = "A0", to = "S1", prob = 1 },"#),
    ("unknown key in features", "actor", r#"policy = "states""#),
    ("key twice", "gamma", "gamma = 0.9\ngamma = 0.8"),
    ("key twice in a transition", FIRST, r#"  { from = "S0", from = "S1", action = "A0", to = "S1" },"#),
    ("no states", "states", ""),
    ("no actions", "actions", ""),
    ("no start", "start", ""),
    ("no behaviour", "behaviour", ""),
    ("transition from nowhere", FIRST, r#"  { action = "A0", to = "S1" },"#),
    ("transition without an action", FIRST, r#"  { from = "S0", to = "S1" },"#),
    ("British and American", "behaviour", "behavior = { A0 = 0.25, A1 = 0.75 }"),
    ("key of a pattern at the top", "gamma", "slip = 0.1"),
    // Types.
    ("text for states", "states", r#"states = "S0""#),
    ("numbers for the names of states", "states", "states = [0, 1, 2]"),
    ("negative number of states", "states", "states = -3"),
    ("fraction of states", "states", "states = 2.5"),
    ("table for actions", "actions", "actions = { A0 = 1, A1 = 1 }"),
    ("list for a transition", FIRST, r#"  ["S0", "A0", "S1"],"#),
    (
        "text for a probability",
        SECOND,
        r#"  { from = "S0", action = "A1", to = "S1", probability = "half" },"#,
    ),
    ("text for a reward", END, r#"  { from = "S1", action = "A1", reward = "much", end = true },"#),
    ("text for an end", END, r#"  { from = "S1", action = "A1", end = "yes" },"#),
    ("fraction for a state", FIRST, r#"  { from = 0.5, action = "A0", to = "S1" },"#),
    ("negative number for a state", FIRST, r#"  { from = -1, action = "A0", to = "S1" },"#),
    ("table for a state", FIRST, r#"  { from = {}, action = "A0", to = "S1" },"#),
    ("list of lists of states", FIRST, r#"  { from = [["S0"]], action = "A0", to = "S1" },"#),
    ("date for a gamma", "gamma", "gamma = 2001-01-01"),
    ("true for an interest", "interest", "interest = true"),
    ("list for a behaviour", "behaviour", "behaviour = [0.25, 0.75]"),
    ("number for a behaviour", "behaviour", "behaviour = 0.5"),
    ("number for a target", "target", "target = 0.5"),
    ("list for a target", "target", "target = [0, 0, 0, 0]"),
    ("number for features", "actor", "actor = 3"),
    ("list for features", "actor", r#"actor = [["S1", "S2"]]"#),
    // Names.
    ("two states of one name", "states", r#"states = ["S0", "S1", "S2", "S1"]"#),
    ("two actions of one name", "actions", r#"actions = ["A0", "A1", "A0"]"#),
    ("empty list of states", "states", "states = []"),
    ("empty list of actions", "actions", "actions = []"),
    ("no states but a number", "states", "states = 0"),
    ("too many states", "states", "states = 99999999999"),
    ("unknown state in from", FIRST, r#"  { from = "s0", action = "A0", to = "S1" },"#),
    ("unknown state in to", FIRST, r#"  { from = "S0", action = "A0", to = "goal" },"#),
    ("unknown action", FIRST, r#"  { from = "S0", action = "B0", to = "S1" },"#),
    ("unknown number of a state", FIRST, r#"  { from = "S0", action = "A0", to = 3 },"#),
    ("unknown number of an action", FIRST, r#"  { from = "S0", action = 2, to = "S1" },"#),
    ("no state in from", FIRST, r#"  { from = [], action = "A0", to = "S1" },"#),
    ("no state in to", FIRST, r#"  { from = "S0", action = "A0", to = [] },"#),
    // Transitions.
    ("both to and end", FIRST, r#"  { from = "S0", action = "A0", to = "S1", end = true },"#),
    ("neither to nor end", FIRST, r#"  { from = "S0", action = "A0" },"#),
    ("end with a gamma", END, r#"  { from = "S1", action = "A1", end = true, gamma = 0.5 },"#),
    ("gamma beyond 1", "gamma", "gamma = 1.5"),
    ("gamma below 0", "gamma", "gamma = -0.1"),
    ("gamma that is nan", "gamma", "gamma = nan"),
    (
        "gamma of a transition beyond 1",
        SECOND,
        r#"  { from = "S0", action = "A1", to = "S1", probability = 0.5, gamma = 2 },"#,
    ),
    ("negative probability", SECOND, r#"  { from = "S0", action = "A1", to = "S1", probability = -0.5 },"#),
    ("probability that is nan", SECOND, r#"  { from = "S0", action = "A1", to = "S1", probability = nan },"#),
    ("infinite probability", SECOND, r#"  { from = "S0", action = "A1", to = "S1", probability = inf },"#),
    (
        "infinite reward",
        SECOND,
        r#"  { from = "S0", action = "A1", to = "S1", probability = 0.5, reward = -inf },"#,
    ),
    (
        "reward that is nan",
        SECOND,
        r#"  { from = "S0", action = "A1", to = "S1", probability = 0.5, reward = nan },"#,
    ),
    (
        "probabilities with too few digits",
        SECOND,
        r#"  { from = "S0", action = "A1", to = "S1", probability = 0.4999999 },"#,
    ),
    (
        "probabilities that sum to more than 1",
        SECOND,
        r#"  { from = "S0", action = "A1", to = "S1", probability = 0.6 },"#,
    ),
    ("the same transition twice", FIRST, r#"  { from = ["S0", "S0"], action = "A0", to = "S1" },"#),
    ("action that is missing", END, ""),
    // Start.
    ("unknown start", "start", r#"start = "S9""#),
    ("unknown number of the start", "start", "start = 9"),
    ("list for the start", "start", r#"start = ["S0", "S1"]"#),
    ("empty start", "start", "start = {}"),
    ("start that sums to less than 1", "start", "start = { S0 = 0.5, S1 = 0.4 }"),
    ("start below 0", "start", "start = { S0 = -0.5, S1 = 1.5 }"),
    ("start that is nan", "start", "start = { S0 = nan }"),
    ("unknown state in the start", "start", "start = { S0 = 0.5, T1 = 0.5 }"),
    ("text in the start", "start", "start = { S0 = \"always\" }"),
    // Behaviour.
    ("behaviour that sums to more than 1", "behaviour", "behaviour = { A0 = 0.5, A1 = 0.75 }"),
    ("behaviour with too few digits", "behaviour", "behaviour = { A0 = 0.3333, A1 = 0.6666 }"),
    ("behaviour below 0", "behaviour", "behaviour = { A0 = -0.5, A1 = 1.5 }"),
    ("behaviour that is nan", "behaviour", "behaviour = { A0 = nan, A1 = 0.5 }"),
    ("unknown action in behaviour", "behaviour", "behaviour = { A0 = 0.5, A2 = 0.5 }"),
    ("unknown state in behaviour", "behaviour", "behaviour = { S3 = { A0 = 0.5, A1 = 0.5 } }"),
    ("unknown action in a state's behaviour", "behaviour", "behaviour = { S0 = { A0 = 0.5, left = 0.5 } }"),
    ("behaviour of one state that sums to less than 1", "behaviour", "behaviour = { S1 = { A0 = 0.5 } }"),
    ("behaviour with numbers beside tables", "behaviour", "behaviour = { A0 = 0.5, S1 = { A1 = 1 } }"),
    ("unknown word for a behaviour", "behaviour", "behaviour = \"unifrom\""),
    ("empty behaviour", "behaviour", "behaviour = {}"),
    ("text in a behaviour", "behaviour", "behaviour = { A0 = \"often\", A1 = 0.5 }"),
    // Target.
    ("target with the wrong number of weights", "target", "target = { weights = [0, 1, 2] }"),
    ("target without weights", "target", "target = { weights = [] }"),
    ("weights that are nan", "target", "target = { weights = [0, nan, 0, 0] }"),
    ("infinite weights", "target", "target = { weights = [0, inf, 0, 0] }"),
    ("number for weights", "target", "target = { weights = 0 }"),
    ("text for weights", "target", "target = { weights = \"zero\" }"),
    ("text in weights", "target", "target = { weights = [\"zero\"] }"),
    ("weights and probabilities", "target", "target = { weights = [0, 0, 0, 0], A0 = 0.5 }"),
    ("target that sums to less than 1", "target", "target = { A0 = 0.5, A1 = 0.4 }"),
    ("target below 0", "target", "target = { A0 = -0.5, A1 = 1.5 }"),
    ("target that is nan", "target", "target = { A0 = nan, A1 = 0.5 }"),
    ("unknown action in the target", "target", "target = { A0 = 0.5, A5 = 0.5 }"),
    ("unknown state in the target", "target", "target = { S5 = { A0 = 1 } }"),
    ("unknown word for the target", "target", "target = \"greedy\""),
    ("list in the target", "target", "target = { A0 = [0.5], A1 = 0.5 }"),
    ("kind of a real action's policy", "target", "target = { policy = \"gaussian\" }"),
    // Interest.
    ("negative interest", "interest", "interest = -1"),
    ("negative interest in a state", "interest", "interest = { S1 = -1 }"),
    ("interest that is nan", "interest", "interest = nan"),
    ("unknown state in interest", "interest", "interest = { S7 = 1 }"),
    ("text in an interest", "interest", "interest = { S0 = \"much\" }"),
    // Features.
    ("features of some states", "actor", "actor = { S0 = [1], S1 = [1] }"),
    ("features of an unknown state", "actor", "actor = { S0 = [1], S1 = [1], S2 = [1], S3 = [1] }"),
    ("features of different lengths", "actor", "actor = { S0 = [1, 0], S1 = [0], S2 = [0, 1] }"),
    ("features that are nan", "actor", "actor = { S0 = [nan], S1 = [1], S2 = [1] }"),
    ("features of no length", "actor", "actor = { S0 = [], S1 = [], S2 = [] }"),
    ("text in features", "actor", "actor = { S0 = [\"a\"], S1 = [1], S2 = [1] }"),
    ("unknown word for features", "critic", "critic = \"state\""),
    ("unknown word for features like none", "critic", "critic = \"tiles\""),
    ("features in a number", "critic", "critic = { S0 = 1, S1 = [1], S2 = [1] }"),
    ("features in a fraction", "critic", "critic = { S0 = 0.5, S1 = [1], S2 = [1] }"),
    ("features in numbers beside lists", "critic", "critic = { S0 = [1, [2]], S1 = [1], S2 = [1] }"),
    ("alias of an unknown state", "actor", "actor = { alias = [[\"S1\", \"S3\"]] }"),
    ("alias of an unknown number", "actor", "actor = { alias = [[1, 3]] }"),
    ("alias of one state twice", "actor", "actor = { alias = [[\"S1\", \"S2\"], [\"S0\", \"S1\"]] }"),
    ("alias of a state and itself", "actor", "actor = { alias = [[\"S1\", \"S1\"]] }"),
    ("alias in one list", "actor", "actor = { alias = [\"S1\", \"S2\"] }"),
    ("alias beside features", "actor", "actor = { alias = [[\"S1\", \"S2\"]], S0 = [1] }"),
    ("blocks of listed states", "actor", "actor = { blocks = 2 }"),
    ("blocks of nothing", "actor", "actor = { blocks = 0 }"),
    ("blocks in a fraction", "actor", "actor = { blocks = 1.5 }"),
    // Patterns.
    ("pattern beside transitions", "gamma", "grid = { rows = 2, columns = 2 }"),
    ("problem beside states", "gamma", "problem = \"counterexample\""),
    // Syntax.
    ("unclosed bracket", "]", ""),
    ("unclosed quotation mark", "start", "start = \"S0"),
    ("no quotation marks", "start", "start = S0"),
    ("comma for a point", "gamma", "gamma = 0,9"),
];

/// Patterns, variants and others: whole files.
const WHOLE: &[(&str, &str)] = &[
    ("empty file", ""),
    ("only a behaviour", "behaviour = \"uniform\"\n"),
    (
        "too many states and actions",
        "states = 1_000_000\nactions = 1_000_000\nstart = 0\nbehaviour = \"uniform\"\ntransitions = []\n",
    ),
    (
        "empty list of transitions",
        "states = 2\nactions = 2\nstart = 0\nbehaviour = \"uniform\"\ntransitions = []\n",
    ),
    (
        "table for transitions",
        "states = 2\nactions = 2\nstart = 0\nbehaviour = \"uniform\"\n[transitions]\nfrom = 0\n",
    ),
    ("grid without a map", "behaviour = \"uniform\"\n[grid]\nslip = 0.1\n"),
    ("grid of rows only", "behaviour = \"uniform\"\n[grid]\nrows = 3\n"),
    ("grid with an unknown character", "behaviour = \"uniform\"\n[grid]\nmap = \"\"\"\nS.G\n.x.\n\"\"\"\n"),
    (
        "grid with a map and rows",
        "behaviour = \"uniform\"\n[grid]\nmap = \"\"\"\nS.G\n\"\"\"\nrows = 1\ncolumns = 3\n",
    ),
    ("grid of walls", "behaviour = \"uniform\"\n[grid]\nmap = \"\"\"\n###\n###\n\"\"\"\n"),
    ("grid with an empty map", "behaviour = \"uniform\"\n[grid]\nmap = \"\"\n"),
    ("grid without a start", "behaviour = \"uniform\"\n[grid]\nmap = \"\"\"\n..G\n\"\"\"\n"),
    ("grid of rows without a start", "behaviour = \"uniform\"\n[grid]\nrows = 2\ncolumns = 2\n"),
    ("start in a wall", "start = \"r0c1\"\nbehaviour = \"uniform\"\n[grid]\nmap = \"\"\"\n.#G\n\"\"\"\n"),
    ("slip beyond 1", "behaviour = \"uniform\"\n[grid]\nmap = \"\"\"\nS.G\n\"\"\"\nslip = 2\n"),
    ("slip that is nan", "behaviour = \"uniform\"\n[grid]\nmap = \"\"\"\nS.G\n\"\"\"\nslip = nan\n"),
    (
        "place outside",
        "start = \"r0c0\"\nbehaviour = \"uniform\"\n[grid]\nrows = 3\ncolumns = 3\nplaces = { G = \"r3c0\" }\n",
    ),
    (
        "place by number",
        "start = \"r0c0\"\nbehaviour = \"uniform\"\n[grid]\nrows = 3\ncolumns = 3\nplaces = { G = 8 }\n",
    ),
    (
        "place for two characters",
        "start = \"r0c0\"\nbehaviour = \"uniform\"\n[grid]\nrows = 3\ncolumns = 3\nplaces = { GO = \"r2c2\" }\n",
    ),
    (
        "place for an unknown character",
        "start = \"r0c0\"\nbehaviour = \"uniform\"\n[grid]\nrows = 3\ncolumns = 3\nplaces = { x = \"r2c2\" }\n",
    ),
    ("no rows", "start = \"r0c0\"\nbehaviour = \"uniform\"\n[grid]\nrows = 0\ncolumns = 3\n"),
    (
        "too many rows",
        "start = \"r0c0\"\nbehaviour = \"uniform\"\n[grid]\nrows = 100_000\ncolumns = 100_000\n",
    ),
    (
        "unknown key of a cell",
        "behaviour = \"uniform\"\n[grid]\nmap = \"\"\"\nSLG\n\"\"\"\ncells = { L = { rewards = -1 } }\n",
    ),
    (
        "infinite reward of a cell",
        "behaviour = \"uniform\"\n[grid]\nmap = \"\"\"\nSLG\n\"\"\"\ncells = { L = { reward = inf } }\n",
    ),
    ("number for a cell", "behaviour = \"uniform\"\n[grid]\nmap = \"\"\"\nSLG\n\"\"\"\ncells = { L = -1 }\n"),
    (
        "cell of two characters",
        "behaviour = \"uniform\"\n[grid]\nmap = \"\"\"\nSLG\n\"\"\"\ncells = { L = {}, LL = { reward = -1 } }\n",
    ),
    ("number for a map", "behaviour = \"uniform\"\n[grid]\nmap = 5\n"),
    ("unknown key of a grid", "behaviour = \"uniform\"\n[grid]\nmapp = \"S\"\n"),
    ("chain of no states", "behaviour = \"uniform\"\n[chain]\nstates = 0\n"),
    ("chain without states", "behaviour = \"uniform\"\n[chain]\nslip = 0\n"),
    ("chain of too many states", "behaviour = \"uniform\"\n[chain]\nstates = 9999999999\n"),
    ("chain that slips too much", "behaviour = \"uniform\"\n[chain]\nstates = 3\nslip = 1.1\n"),
    ("end of a chain as a word", "behaviour = \"uniform\"\n[chain]\nstates = 3\nleft = \"end\"\n"),
    (
        "infinite reward of a chain",
        "behaviour = \"uniform\"\n[chain]\nstates = 3\nright = { end = true, reward = nan }\n",
    ),
    ("gamma of a chain", "gamma = 1.01\nbehaviour = \"uniform\"\n[chain]\nstates = 3\n"),
    (
        "random with too much branching",
        "behaviour = \"uniform\"\n[random]\nseed = 1\nstates = 3\nactions = 2\nbranching = 4\n",
    ),
    (
        "random that ends too often",
        "behaviour = \"uniform\"\n[random]\nseed = 1\nstates = 3\nactions = 2\nend = 1.5\n",
    ),
    ("random without a seed", "behaviour = \"uniform\"\n[random]\nstates = 3\nactions = 2\n"),
    (
        "random with a negative seed",
        "behaviour = \"uniform\"\n[random]\nseed = -1\nstates = 3\nactions = 2\n",
    ),
    (
        "random of too many transitions",
        "behaviour = \"uniform\"\n[random]\nseed = 1\nstates = 500_000\nactions = 50\n",
    ),
    (
        "random of too much to eliminate",
        "behaviour = \"uniform\"\n[random]\nseed = 1\nstates = 1_000_000\nactions = 1\n",
    ),
    (
        "random that starts from too many states",
        "start = \"uniform\"\nbehaviour = \"uniform\"\n[random]\nseed = 1\nstates = 10_000\nactions = 3\nend = 0.1\n",
    ),
    (
        "two patterns",
        "behaviour = \"uniform\"\n[chain]\nstates = 3\n[random]\nseed = 1\nstates = 3\nactions = 2\n",
    ),
    ("pattern beside states", "states = 3\nbehaviour = \"uniform\"\n[chain]\nstates = 3\n"),
    ("pattern that is no table", "chain = 3\nbehaviour = \"uniform\"\n"),
    ("unknown problem", "problem = \"counterexmple\"\n"),
    ("unknown problem like none", "problem = \"cartpole\"\n"),
    ("problem by number", "problem = 1\n"),
    ("problem beside gamma", "problem = \"counterexample\"\ngamma = 0.9\n"),
    ("problem beside a pattern", "problem = \"counterexample\"\n[chain]\nstates = 3\n"),
    ("unknown action of a variant", "problem = \"counterexample\"\nbehaviour = { A0 = 0.5, A7 = 0.5 }\n"),
    ("unknown state of a variant", "problem = \"counterexample\"\ninterest = { S7 = 1 }\n"),
    ("blocks of a variant", "problem = \"counterexample\"\nfeatures.actor = { blocks = 2 }\n"),
    (
        "continuous target of no kind",
        "problem = \"continuous-counterexample\"\ntarget = { policy = \"softmax\" }\n",
    ),
    (
        "continuous target without a kind",
        "problem = \"continuous-counterexample\"\ntarget = { weights = [0, 0] }\n",
    ),
    (
        "continuous target with the wrong number of weights",
        "problem = \"continuous-counterexample\"\ntarget = { policy = \"deterministic\", weights = [0, 0, 0] }\n",
    ),
    (
        "continuous target with weights that are nan",
        "problem = \"continuous-counterexample\"\ntarget = { policy = \"gaussian\", weights = [0, 0, nan, 0] }\n",
    ),
    (
        "continuous target with a number for weights",
        "problem = \"continuous-counterexample\"\ntarget = { policy = \"gaussian\", weights = 0 }\n",
    ),
    ("continuous target by action", "problem = \"continuous-counterexample\"\ntarget = { A0 = 0.5 }\n"),
    ("continuous target in a word", "problem = \"continuous-counterexample\"\ntarget = \"uniform\"\n"),
    ("continuous behaviour in a word", "problem = \"continuous-counterexample\"\nbehaviour = \"uniform\"\n"),
    (
        "continuous behaviour without width",
        "problem = \"continuous-counterexample\"\nbehaviour = { mean = 1, standard_deviation = 0 }\n",
    ),
    (
        "continuous behaviour with more",
        "problem = \"continuous-counterexample\"\nbehaviour = { mean = 1, standard_deviation = 1, skew = 0 }\n",
    ),
    ("continuous features", "problem = \"continuous-counterexample\"\nfeatures.actor = \"states\"\n"),
    (
        "behaviour that ends in one of two places",
        r#"states = ["start", "left", "right"]
actions = ["l", "r"]
start = "start"
gamma = 0.9
behaviour = "uniform"
transitions = [
  { from = "start", action = "l", to = "left" },
  { from = "start", action = "r", to = "right" },
  { from = "left", action = ["l", "r"], to = "left" },
  { from = "right", action = ["l", "r"], to = "right" },
]
"#,
    ),
    (
        "target that never ends",
        r#"states = 2
actions = ["stay", "leave"]
start = 0
behaviour = "uniform"
target = { stay = 1 }
transitions = [
  { from = [0, 1], action = "stay", to = 1, reward = 1 },
  { from = [0, 1], action = "leave", end = true },
]
"#,
    ),
    (
        "values too large",
        r#"states = 1
actions = 1
start = 0
behaviour = "uniform"
gamma = 0.99
transitions = [{ from = 0, action = 0, to = 0, reward = 1e308 }]
"#,
    ),
];

const JSON: &[(&str, &str)] = &[
    ("empty file", ""),
    ("no comma", "{\n  \"states\": 2\n  \"actions\": 2\n}\n"),
    ("comma too many", "{\n  \"states\": [\"a\", \"b\",],\n  \"actions\": 2\n}\n"),
    ("not closed", "{\n  \"states\": 2,\n  \"actions\": 2\n"),
    ("TOML", "states = 2\nactions = 2\n"),
    ("a list", "[1, 2]\n"),
    ("comment", "{\n  // two states\n  \"states\": 2\n}\n"),
    ("nan", "{\n  \"states\": 2,\n  \"gamma\": NaN\n}\n"),
    ("null", "{\n  \"states\": 2,\n  \"note: null\": 1,\n  \"gamma\": null\n}\n"),
    ("unknown key", "{\n  \"states\": 2,\n  \"gama\": 0.9\n}\n"),
    ("unknown key like none", "{\n  \"a:b{\": { \"c\": [1, 2] },\n  \"states\": 2\n}\n"),
    ("key twice", "{\n  \"states\": 2,\n  \"states\": 3\n}\n"),
    (
        "unknown key in a transition",
        "{\n  \"states\": 1,\n  \"actions\": 1,\n  \"transitions\": [\n    { \"from\": 0, \"action\": 0, \"too\": 0 }\n  ]\n}\n",
    ),
    ("text for a number", "{\n  \"states\": 2,\n  \"gamma\": \"0.9\"\n}\n"),
    ("number for a table", "{\n  \"features\": 3\n}\n"),
    ("number too large", "{\n  \"gamma\": 1e400\n}\n"),
    ("missing key", "{\n  \"actions\": 2\n}\n"),
    (
        "unknown state behind escapes",
        "{\n  \"states\": [\"\\u00e4\\\"\\\\:\", \"S1\"],\n  \"actions\": 1,\n  \"start\": \"S2\",\n  \"behaviour\": \"uniform\",\n  \"transitions\": [{ \"from\": [0, 1], \"action\": 0, \"end\": true }]\n}\n",
    ),
    (
        "unknown state behind a slash and a character in two halves",
        "{\n  \"states\": [\"a\\/b\"], \"actions\": [\"\\ud83d\\ude00\"], \"start\": \"a\\/c\",\n  \"behaviour\": \"uniform\",\n  \"transitions\": [{ \"from\": 0, \"action\": 0, \"end\": true }]\n}\n",
    ),
    ("escape of half a character", "{\n  \"start\": \"a\\/\\ud83d\"\n}\n"),
    ("escape of the other half", "{\n  \"start\": \"\\ude00\\ud83d\"\n}\n"),
    ("wrong escape", "{\n  \"start\": \"a\\xb\"\n}\n"),
    (
        "probabilities that sum to less than 1",
        "{\n  \"states\": 1,\n  \"actions\": 1,\n  \"start\": 0,\n  \"behaviour\": \"uniform\",\n  \"transitions\": [\n    { \"from\": 0, \"action\": 0, \"to\": 0, \"probability\": 0.4 },\n    { \"from\": 0, \"action\": 0, \"end\": true, \"probability\": 0.4 }\n  ]\n}\n",
    ),
];

/// The good file with one line replaced.
fn replaced((_, line, with): &Case) -> String {
    common::replaced(PROBLEM, line, with)
}

/// Returns the messages about files with these texts, one below the other.
fn messages<'a>(cases: impl IntoIterator<Item = (&'a str, String)>, file: &str) -> String {
    let dir = tempfile::tempdir().expect("a directory");
    messages_in(dir.path(), file, cases, &["solve", file])
}

#[test]
fn wrong_lists() {
    insta::assert_snapshot!(messages(LISTED.iter().map(|case| (case.0, replaced(case))), "p.toml"));
}

#[test]
fn wrong_patterns_and_variants() {
    let cases = WHOLE.iter().map(|(name, text)| (*name, (*text).to_owned()));
    insta::assert_snapshot!(messages(cases, "p.toml"));
}

#[test]
fn wrong_json() {
    let cases = JSON.iter().map(|(name, text)| (*name, (*text).to_owned()));
    insta::assert_snapshot!(messages(cases, "p.json"));
}

/// Once all of a line was shown, and all of a name, however long they were.
#[test]
fn of_long_lines_and_names_a_part_is_shown() {
    let name = "long".repeat(7500);
    let json = |start: &str| {
        format!(
            "{{\"states\": [\"{name}\", \"S1\"], \"actions\": 1, \"start\": {start}, \"behaviour\": \"uniform\", \"transitions\": [{{\"from\": [0, 1], \"action\": 0, \"end\": true, \"probability\": 0.5}}]}}"
        )
    };
    let cases = [
        ("unknown state", json("\"S2\"")),
        ("unknown state of a long name", json(&format!("\"{name}S\""))),
        ("sum", json("0")),
    ];
    insta::assert_snapshot!(messages(cases, "p.json"));
}

#[test]
fn what_is_no_file() {
    let dir = tempfile::tempdir().expect("a directory");
    let mut all = message(dir.path(), &["solve", "missing.toml"], "missing");
    all += &message(dir.path(), &["solve", "counter-example"], "no shipped problem");
    fs::create_dir(dir.path().join("directory.toml")).expect("it is made");
    all += &message(dir.path(), &["solve", "directory.toml"], "directory");
    fs::write(dir.path().join("bytes.toml"), b"states = [\"\xff\"]\n").expect("it is written");
    all += &message(dir.path(), &["solve", "bytes.toml"], "bytes that are no text");
    let large = fs::File::create(dir.path().join("large.toml")).expect("it is made");
    large.set_len(1 << 30).expect("a file with a hole");
    all += &message(dir.path(), &["solve", "large.toml"], "a gigabyte");
    insta::assert_snapshot!(all);
}

/// A sum that is off by rounding is scaled to one; one that is further off is a mistake.
#[test]
fn a_sum_may_be_off_by_rounding() {
    let dir = tempfile::tempdir().expect("a directory");
    let solved = |line: &str, with: &str, options: &[&str]| {
        fs::write(dir.path().join("p.toml"), replaced(&("", line, with))).expect("it is written");
        let output = ended_in(dir.path(), ["solve", "p.toml"].iter().chain(options));
        String::from_utf8(succeeded(output).stdout).expect("it is text")
    };
    // One way alone has probability 1 afterwards, to the bit.
    let exact = r#"  { from = "S0", action = "A0", to = "S1", probability = 1 },"#;
    let off = r#"  { from = "S0", action = "A0", to = "S1", probability = 1.000000000000001 },"#;
    assert_eq!(solved(FIRST, off, &["--json"]), solved(FIRST, exact, &["--json"]));
    // One of two transitions is more likely by so little that no printed digit shows it.
    let exact = r#"  { from = "S0", action = "A1", to = "S1", probability = 0.5 },"#;
    let off = r#"  { from = "S0", action = "A1", to = "S1", probability = 0.500000000000001 },"#;
    assert_eq!(solved(SECOND, off, &[]), solved(SECOND, exact, &[]));
}

#[test]
fn the_good_file_is_good() {
    let dir = tempfile::tempdir().expect("a directory");
    fs::write(dir.path().join("p.toml"), PROBLEM).expect("it is written");
    succeeded(ended_in(dir.path(), ["solve", "p.toml"]));
}
