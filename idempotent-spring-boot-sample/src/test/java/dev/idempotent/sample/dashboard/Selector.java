package dev.idempotent.sample.dashboard;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

/**
 * A time series that a PromQL expression selects.
 *
 * @param metric the name of the metric
 * @param labels the labels that the expression matches or groups by
 */
record Selector(String metric, Set<String> labels) {

	private static final Pattern TOKEN = Pattern.compile("\"(?:[^\"\\\\]|\\\\.)*\"|\\[[^]]*]|[a-zA-Z_]\\w*|[^\\s\\w]");

	private static final Pattern NAME = Pattern.compile("[a-zA-Z_]\\w*");

	private static final Set<String> GROUPINGS = Set.of("by", "without", "on", "ignoring", "group_left", "group_right");

	/**
	 * What follows the name of a function or an aggregation.
	 */
	private static final Set<String> AGGREGATED = Set.of("(", "by", "without");

	private static final Set<String> OPERATORS = Set.of("and", "or", "unless", "bool", "offset");

	/**
	 * Returns the time series of an expression. Labels to group by count for the next
	 * metric, so they must stand in front of the aggregated expression.
	 */
	static List<Selector> in(String expression) {
		List<String> tokens = TOKEN.matcher(expression).results().map(MatchResult::group).toList();
		List<Selector> selectors = new ArrayList<>();
		Set<String> grouping = new LinkedHashSet<>();
		for (int i = 0; i < tokens.size(); i++) {
			String token = tokens.get(i);
			String next = (i + 1 < tokens.size()) ? tokens.get(i + 1) : "";
			if (GROUPINGS.contains(token)) {
				int end = i + tokens.subList(i, tokens.size()).indexOf(")");
				grouping.addAll(names(tokens.subList(i + 1, end)));
				i = end;
			}
			else if (NAME.matcher(token).matches() && !OPERATORS.contains(token) && !AGGREGATED.contains(next)) {
				int end = next.equals("{") ? i + tokens.subList(i, tokens.size()).indexOf("}") : i;
				Set<String> labels = new LinkedHashSet<>(names(tokens.subList(i + 1, end + 1)));
				labels.addAll(grouping);
				selectors.add(new Selector(token, Set.copyOf(labels)));
				grouping.clear();
				i = end;
			}
		}
		return selectors;
	}

	private static List<String> names(List<String> tokens) {
		return tokens.stream().filter(NAME.asMatchPredicate()).toList();
	}

}
