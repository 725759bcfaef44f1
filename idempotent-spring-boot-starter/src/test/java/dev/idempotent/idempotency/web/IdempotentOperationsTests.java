package dev.idempotent.idempotency.web;

import java.lang.reflect.Method;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import dev.idempotent.IdempotentConfigurationException;
import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.idempotency.OnError;
import dev.idempotent.idempotency.operation.OperationSettings;
import jakarta.servlet.http.MappingMatch;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.context.support.StaticApplicationContext;
import org.springframework.http.server.RequestPath;
import org.springframework.mock.web.MockHttpServletMapping;
import org.springframework.mock.web.MockHttpServletRequest;
import org.springframework.util.ClassUtils;
import org.springframework.web.accept.DefaultApiVersionStrategy;
import org.springframework.web.accept.PathApiVersionResolver;
import org.springframework.web.accept.SemanticApiVersionParser;
import org.springframework.web.bind.annotation.RequestMethod;
import org.springframework.web.method.HandlerMethod;
import org.springframework.web.servlet.HandlerExecutionChain;
import org.springframework.web.servlet.mvc.method.RequestMappingInfo;
import org.springframework.web.servlet.mvc.method.RequestMappingInfo.BuilderConfiguration;
import org.springframework.web.servlet.mvc.method.annotation.RequestMappingHandlerMapping;
import org.springframework.web.util.ServletRequestPathUtils;
import org.springframework.web.util.pattern.PathPatternParser;
import org.springframework.web.util.pattern.PatternParseException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for {@link IdempotentOperations}, compared with the handlers that Spring MVC
 * finds.
 */
class IdempotentOperationsTests {

	private static final int FIRST_SEED = Integer.getInteger("fuzz.seed", 1);

	private static final int HISTORIES = Integer.getInteger("fuzz.histories", 100);

	private static final int REQUESTS = 200;

	private static final List<String> LITERALS = List.of("a", "b", "A", "a.b", "a-b", "a:b", "\u00e4", "a%62");

	private static final List<String> VARIABLES = List.of("", "**", "{*rest}", "{id}", "{id}", "*", "{id:[a-z]+}",
			"{id:\\w+}.{type}", "a*", "?", "*.b", "{a}-{b}");

	private static final List<RequestMethod[]> MAPPED_METHODS = List.of(new RequestMethod[0],
			new RequestMethod[] { RequestMethod.GET }, new RequestMethod[] { RequestMethod.POST },
			new RequestMethod[] { RequestMethod.POST, RequestMethod.PUT },
			new RequestMethod[] { RequestMethod.HEAD, RequestMethod.OPTIONS });

	private static final List<String> METHODS = List.of("GET", "HEAD", "POST", "POST", "PUT", "OPTIONS", "post", "FOO");

	private static final List<String> CONTEXTS = List.of("", "", "/shop", "/sh%6Fp", "/");

	private static final List<String> SERVLETS = List.of("", "", "/api", "/api/", "/\u00e4");

	private static final List<UnaryOperator<String>> SPELLINGS = List.of((url) -> url, (url) -> url, (url) -> url,
			(url) -> url + "/", (url) -> url + ";x=1", (url) -> url.replaceFirst("/", "/;x=1/"),
			(url) -> url.replace("a", "%61"), (url) -> url.replaceFirst("/", "//"), (url) -> url + "/.",
			(url) -> "/b/.." + url, (url) -> url.toUpperCase(Locale.ROOT), (url) -> url + "%2F", (url) -> url + ".json",
			(url) -> url.replaceAll("/$", ""));

	static IntStream seeds() {
		return IntStream.range(FIRST_SEED, FIRST_SEED + HISTORIES);
	}

	@ParameterizedTest
	@MethodSource("seeds")
	void findsWhatSpringMvcMapsToAnAnnotatedHandler(int seed) {
		Random random = new Random(seed);
		PathPatternParser parser = new PathPatternParser();
		parser.setCaseSensitive(random.nextInt(5) > 0);
		RequestMappingHandlerMapping mapping = mapping((random.nextInt(10) > 0) ? parser : null);
		List<String> patterns = IntStream.range(0, 1 + random.nextInt(12)).mapToObj((i) -> pattern(random)).toList();
		patterns.forEach((pattern) -> register(mapping, random, pattern));
		IdempotentOperations operations = load(mapping, List.of());
		for (int i = 0; i < REQUESTS; i++) {
			RandomRequest request = RandomRequest.of(random, patterns);
			assertThat(isFound(operations, request.create()))
				.as("-Dfuzz.seed=%d: %s of %s", seed, request, mapping.getHandlerMethods())
				.isEqualTo(isAnnotated(mapping, request.create()));
		}
	}

	@ParameterizedTest
	@ValueSource(strings = { "annotated", "plain" })
	void rejectAHandlerThatIsMappedWithDifferentConditions(String name) {
		RequestMappingHandlerMapping mapping = mapping(new PathPatternParser());
		for (String provider : List.of("visa", "amex")) {
			mapping.registerMapping(RequestMappingInfo.paths("/pay")
				.methods(RequestMethod.POST)
				.headers("X-Provider=" + provider)
				.options(mapping.getBuilderConfiguration())
				.build(), new Handlers(), method(name));
		}
		assertThatExceptionOfType(IdempotentConfigurationException.class)
			.isThrownBy(() -> load(mapping, List.of("POST /pay")))
			.withMessageContaining("mapped several times");
	}

	@ParameterizedTest
	@ValueSource(strings = { "/a", "/a/", "/a/17", "/b;x=1", "/%62", "/c" })
	void findsEachRequestThatNeedsAKeyByConfiguration(String url) {
		RequestMappingHandlerMapping mapping = mapping(new PathPatternParser());
		IdempotentOperations operations = load(mapping, List.of("POST /a/**", "POST /b", "FOO /{name}"));
		assertThat(isFound(operations, new MockHttpServletRequest("POST", url))).isEqualTo(!url.equals("/c"));
		assertThat(isFound(operations, new MockHttpServletRequest("FOO", url))).isEqualTo(url.lastIndexOf('/') == 0);
		assertThat(isFound(operations, new MockHttpServletRequest("PUT", url))).isFalse();
	}

	@ParameterizedTest
	@CsvSource({ "'', /, /", "/, /, /", "/shop, /, /shop/", "'', '', ''", "/shop, '', /shop" })
	void findsTheRootOfEachContext(String context, String pattern, String url) {
		RequestMappingHandlerMapping mapping = mapping(new PathPatternParser());
		mapping.registerMapping(RequestMappingInfo.paths(pattern).build(), new Handlers(), method("annotated"));
		MockHttpServletRequest request = new MockHttpServletRequest("POST", url);
		request.setContextPath(context);
		assertThat(isFound(load(mapping, List.of()), request)).isTrue();
	}

	@Test
	void rulesOutOtherRequests() {
		RequestMappingHandlerMapping mapping = mapping(new PathPatternParser());
		mapping.registerMapping(RequestMappingInfo.paths("/a/{id}").methods(RequestMethod.POST).build(), new Handlers(),
				method("annotated"));
		IdempotentOperations operations = load(mapping, List.of());
		for (String url : List.of("/a", "/b/1", "/a/1/2", "/")) {
			assertThat(isFound(operations, new MockHttpServletRequest("POST", url))).isFalse();
		}
		assertThat(isFound(operations, new UnparsedRequest("GET", "/a/1"))).as("not parsed").isFalse();
		assertThat(isFound(operations, new MockHttpServletRequest("POST", "/a/1"))).isTrue();
	}

	/**
	 * The dispatcher servlet parses the URL again, too.
	 */
	@Test
	void findsTheCurrentUrlAfterAFilterHasParsedAnotherOne() {
		RequestMappingHandlerMapping mapping = mapping(new PathPatternParser());
		mapping.registerMapping(RequestMappingInfo.paths("/a").build(), new Handlers(), method("annotated"));
		MockHttpServletRequest request = new MockHttpServletRequest("POST", "/b");
		RequestPath before = ServletRequestPathUtils.parseAndCache(request);
		request.setRequestURI("/a");
		assertThat(isFound(load(mapping, List.of()), request)).isTrue();
		assertThat(ServletRequestPathUtils.getParsedRequestPath(request)).isSameAs(before);
	}

	@ParameterizedTest
	@CsvSource({ "/1.0/a, true", "/2.0/a, false", "/a, false" })
	void findsTheVersionOfAUrl(String url, boolean found) {
		RequestMappingHandlerMapping mapping = mapping(new PathPatternParser());
		DefaultApiVersionStrategy versions = new DefaultApiVersionStrategy(List.of(new PathApiVersionResolver(0)),
				new SemanticApiVersionParser(), null, null, true, null, null);
		versions.addSupportedVersion("1.0", "2.0");
		mapping.setApiVersionStrategy(versions);
		BuilderConfiguration options = new BuilderConfiguration();
		options.setApiVersionStrategy(versions);
		mapping.registerMapping(RequestMappingInfo.paths("/{version}/a").version("1.0").options(options).build(),
				new Handlers(), method("annotated"));
		mapping.registerMapping(RequestMappingInfo.paths("/{version}/a").version("2.0").options(options).build(),
				new Handlers(), method("plain"));
		assertThat(isFound(load(mapping, List.of()), new MockHttpServletRequest("POST", url))).isEqualTo(found);
	}

	private static RequestMappingHandlerMapping mapping(@Nullable PathPatternParser parser) {
		RequestMappingHandlerMapping mapping = new RequestMappingHandlerMapping();
		mapping.setPatternParser(parser);
		mapping.setApplicationContext(new StaticApplicationContext());
		mapping.afterPropertiesSet();
		return mapping;
	}

	@SuppressWarnings("removal")
	private static void register(RequestMappingHandlerMapping mapping, Random random, String pattern) {
		BuilderConfiguration options = new BuilderConfiguration();
		options.setPatternParser(mapping.getPatternParser());
		options.setPathMatcher((mapping.getPatternParser() != null) ? null : mapping.getPathMatcher());
		boolean conditional = random.nextInt(5) == 0;
		RequestMappingInfo info = RequestMappingInfo.paths(pattern)
			.methods(one(MAPPED_METHODS, random))
			.headers(conditional ? new String[] { "X-None" } : new String[0])
			.options(options)
			.build();
		if (!mapping.getHandlerMethods().containsKey(info)) {
			mapping.registerMapping(info, new Handlers(),
					method((random.nextBoolean() ? "annotated" : "plain") + (conditional ? "Conditionally" : "")));
		}
	}

	private static String pattern(Random random) {
		return Stream
			.generate(() -> IntStream.range(0, random.nextInt(4))
				.mapToObj((i) -> "/" + one((random.nextInt(3) > 0) ? LITERALS : VARIABLES, random))
				.collect(Collectors.joining()))
			.filter(IdempotentOperationsTests::isValid)
			.findFirst()
			.orElseThrow();
	}

	private static boolean isValid(String pattern) {
		try {
			PathPatternParser.defaultInstance.parse(pattern);
			return !pattern.startsWith("//");
		}
		catch (PatternParseException ex) {
			return false;
		}
	}

	private static <T> T one(List<T> values, Random random) {
		return values.get(random.nextInt(values.size()));
	}

	private static Method method(String name) {
		return ClassUtils.getMethod(Handlers.class, name);
	}

	private static IdempotentOperations load(RequestMappingHandlerMapping mapping, List<String> requiredFor) {
		IdempotentOperations operations = new IdempotentOperations();
		operations.load(List.of(mapping),
				new IdempotencyWebSettings("test", "Idempotency-Key", requiredFor, 1, 1, 1, List.of("200"), List.of(),
						List.of(), List.of(), OnError.RELEASE, Duration.ofSeconds(1), "urn:test:"),
				OperationSettings.defaults(Guarantee.LEASE, Duration.ofSeconds(1), Duration.ofDays(1)), null);
		return operations;
	}

	private static boolean isFound(IdempotentOperations operations, MockHttpServletRequest request) {
		return operations.mayInclude(request) && operations.find(request) != null;
	}

	private static boolean isAnnotated(RequestMappingHandlerMapping mapping, MockHttpServletRequest request) {
		try {
			ServletRequestPathUtils.parseAndCache(request);
			HandlerExecutionChain chain = mapping.getHandler(request);
			return chain != null && chain.getHandler() instanceof HandlerMethod handler
					&& handler.hasMethodAnnotation(Idempotent.class);
		}
		catch (Exception ex) {
			return false;
		}
	}

	/**
	 * A request that is often to one of the patterns, in one of many spellings.
	 */
	private record RandomRequest(String method, String context, String servlet, String path) {

		static RandomRequest of(Random random, List<String> patterns) {
			String path = one(patterns, random);
			for (String variable : VARIABLES) {
				path = variable.isEmpty() ? path : path.replace("/" + variable, "/" + one(LITERALS, random));
			}
			path = (random.nextInt(4) > 0) ? path : pattern(random);
			return new RandomRequest(one(METHODS, random), one(CONTEXTS, random), one(SERVLETS, random),
					one(SPELLINGS, random).apply(path));
		}

		MockHttpServletRequest create() {
			String prefix = this.context.equals("/") ? "" : this.context;
			String servletPrefix = this.servlet.replaceAll("/$", "").replace("\u00e4", "%C3%A4");
			MockHttpServletRequest request = new MockHttpServletRequest(this.method,
					prefix + servletPrefix + this.path);
			request.setContextPath(this.context);
			if (!this.servlet.isEmpty()) {
				request.setServletPath(this.servlet);
				request.setHttpServletMapping(
						new MockHttpServletMapping("", this.servlet + "/*", "dispatcher", MappingMatch.PATH));
			}
			return request;
		}

	}

	private static final class UnparsedRequest extends MockHttpServletRequest {

		UnparsedRequest(String method, String url) {
			super(method, url);
		}

		@Override
		public void setAttribute(String name, @Nullable Object value) {
			throw new AssertionError("Parsed");
		}

	}

	static class Handlers {

		@Idempotent
		public void annotated() {
		}

		@Idempotent
		public void annotatedConditionally() {
		}

		public void plain() {
		}

		public void plainConditionally() {
		}

	}

}
