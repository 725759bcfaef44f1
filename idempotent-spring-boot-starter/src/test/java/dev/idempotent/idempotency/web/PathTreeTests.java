package dev.idempotent.idempotency.web;

import java.util.stream.Stream;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.web.util.pattern.PathPatternParser;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link PathTree}.
 */
class PathTreeTests {

	@ParameterizedTest
	@CsvSource({ "/orders, /orders", "/orders/, /orders/", "/orders/{id}, /orders/17",
			"/orders/{id}/items, /orders/17/items", "/orders/*, /orders/17", "/orders/*, /orders/",
			"/orders/**, /orders", "/orders/**, /orders/17/items", "/orders/{*rest}, /orders",
			"/orders/{id:[0-9]+}, /orders/17", "/o?ders, /orders", "/**, /", "/, /", "/{a}-{b}/items, /1-2/items",
			"/**/items, /orders/17/items", "'', ''" })
	void includesWhatMatches(String pattern, String path) {
		assertThat(treeOf(pattern).mayMatch(path, 0)).isTrue();
	}

	@ParameterizedTest
	@CsvSource({ "/orders, /orders/", "/orders, /order", "/orders, /orders2", "/orders, /Orders",
			"/orders/{id}, /orders", "/orders/{id}, /orders/17/items", "/orders/{id}/items, /orders/17",
			"/orders/**, /orders2", "/, /orders", "/orders/{id:[0-9]+}, /baskets/17", "/orders, /", "/orders, ''",
			"'', /orders" })
	void rulesOutWhatDoesNotMatch(String pattern, String path) {
		assertThat(treeOf(pattern).mayMatch(path, 0)).isFalse();
	}

	@ParameterizedTest
	@ValueSource(strings = { "/orders", "/api/orders" })
	void includesEveryPathIfAPatternIgnoresCase(String path) {
		PathPatternParser parser = new PathPatternParser();
		parser.setCaseSensitive(false);
		PathTree tree = treeOf("/baskets");
		tree.add(parser.parse("/Orders"));
		assertThat(tree.mayMatch(path, 0)).isTrue();
	}

	@ParameterizedTest
	@ValueSource(strings = { "/a%62c", "/abc;x=1", "//abc", "/abc//", "/\u00e4", "/a b", "/a\\b", "/a{b", "/a*" })
	void doesNotCompareWhatIsParsedDifferently(String path) {
		assertThat(PathTree.isPlain(path)).isFalse();
		assertThat(PathTree.isPlain("/Orders/17.json/a_b-c~d/")).isTrue();
	}

	@ParameterizedTest
	@CsvSource({ "/a/b/c, true", "/a/1/d, true", "/a/b/d, true", "/a/1/c, false", "/a/b, true", "/a/1, false" })
	void comparesLiteralsAndVariablesOfAllPatterns(String path, boolean included) {
		assertThat(treeOf("/a/b/c", "/a/{id}/d", "/a/b").mayMatch(path, 0)).isEqualTo(included);
	}

	private static PathTree treeOf(String... patterns) {
		PathTree tree = new PathTree();
		Stream.of(patterns).map(PathPatternParser.defaultInstance::parse).forEach(tree::add);
		return tree;
	}

}
