package dev.idempotent.idempotency.web;

import java.lang.annotation.Annotation;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import dev.idempotent.IdempotentConfigurationException;
import dev.idempotent.idempotency.Cancels;
import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.idempotency.KeySource;
import dev.idempotent.idempotency.engine.IdempotencyTransactions.IdempotencyTransactionSource;
import dev.idempotent.idempotency.operation.OperationNames;
import dev.idempotent.idempotency.operation.OperationSettings;
import dev.idempotent.idempotency.operation.OperationSettings.OperationSummary;
import jakarta.servlet.ServletContext;
import jakarta.servlet.ServletRegistration;
import jakarta.servlet.http.HttpServletRequest;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.core.annotation.AnnotationAwareOrderComparator;
import org.springframework.http.HttpStatus;
import org.springframework.http.server.PathContainer;
import org.springframework.http.server.RequestPath;
import org.springframework.util.Assert;
import org.springframework.util.ClassUtils;
import org.springframework.util.ObjectUtils;
import org.springframework.web.accept.ApiVersionStrategy;
import org.springframework.web.bind.annotation.RequestMethod;
import org.springframework.web.context.WebApplicationContext;
import org.springframework.web.cors.CorsConfiguration;
import org.springframework.web.cors.CorsConfigurationSource;
import org.springframework.web.cors.CorsUtils;
import org.springframework.web.method.HandlerMethod;
import org.springframework.web.servlet.FrameworkServlet;
import org.springframework.web.servlet.HandlerExecutionChain;
import org.springframework.web.servlet.HandlerInterceptor;
import org.springframework.web.servlet.HandlerMapping;
import org.springframework.web.servlet.handler.AbstractHandlerMapping;
import org.springframework.web.servlet.mvc.condition.PathPatternsRequestCondition;
import org.springframework.web.servlet.mvc.method.RequestMappingInfo;
import org.springframework.web.servlet.mvc.method.annotation.RequestMappingHandlerMapping;
import org.springframework.web.util.ServletRequestPathUtils;
import org.springframework.web.util.UriTemplate;
import org.springframework.web.util.pattern.PathPattern;
import org.springframework.web.util.pattern.PathPatternParser;
import org.springframework.web.util.pattern.PatternParseException;

/**
 * Finds the operation of a request: that of its annotated handler, or of a rule that it
 * needs a key. Loaded once the mappings of the application are known; until then no
 * request has an operation.
 */
public final class IdempotentOperations {

	private volatile @Nullable Table table;

	private volatile boolean callersKnown;

	/**
	 * Reads the annotations of all handlers.
	 * @param mappings the mappings that requests are dispatched with, in their order
	 * @param settings the settings, with the requests that need a key
	 * @param defaults the defaults of the annotation's attributes
	 * @param transactionSource resolves the transactions of handlers, or {@code null}
	 * without a database
	 * @return the annotated handlers
	 * @throws IdempotentConfigurationException if an annotation cannot be applied to its
	 * handler
	 */
	public List<OperationSummary> load(List<RequestMappingHandlerMapping> mappings, IdempotencyWebSettings settings,
			OperationSettings defaults, @Nullable IdempotencyTransactionSource transactionSource) {
		Table loaded = new Table(mappings, settings, defaults, transactionSource);
		this.table = loaded;
		return loaded.annotated.keySet()
			.stream()
			.map((handler) -> OperationSummary.of(handler.type(), handler.method(),
					Objects.requireNonNull(annotationOf(handler, Idempotent.class)), defaults))
			.toList();
	}

	/**
	 * Checks that no operation takes its key from the fingerprint alone, for applications
	 * that cannot distinguish callers.
	 * @throws IdempotentConfigurationException if one does
	 */
	public void rejectFingerprintKeys() {
		reject(KeySource.FINGERPRINT,
				"takes its key from the fingerprint, and without Spring Security its callers cannot be "
						+ "distinguished: equal requests of two callers would count as one",
				"Declare a bean of type IdempotencyScopeResolver, such as new PrincipalScopeResolver((principal) -> "
						+ "null, () -> null) if a filter sets the principal, or add Spring Security.");
	}

	/**
	 * Checks that no operation takes its key from a one-time token, for applications
	 * without a secret.
	 * @throws IdempotentConfigurationException if one does
	 */
	public void rejectTokenKeys() {
		reject(KeySource.TOKEN, "takes its key from a one-time token, and idempotent.token.secrets is empty",
				"Set idempotent.token.secrets to an id and a secret, the same in all instances, such as k1: followed by the "
						+ "output of: openssl rand -base64 32.");
	}

	private void reject(KeySource source, String mistake, String action) {
		Table loaded = this.table;
		Assert.state(loaded != null, "The operations must be loaded first");
		loaded.annotated.forEach((handler, operation) -> {
			if (operation.keyExpression() == null && operation.keySource() == source) {
				throw OperationSettings.mistake(handler.describe(), mistake, action, null);
			}
		});
	}

	/**
	 * Requires known callers of handlers that cancel others or can be cancelled, for
	 * applications that can distinguish callers: the keys of a cancellation and of its
	 * action must be in one scope.
	 */
	public void requireCallersOfCancels() {
		this.callersKnown = true;
	}

	/**
	 * Returns whether a request to an operation is refused if its caller is unknown.
	 */
	boolean requiresCaller(Target target) {
		return this.callersKnown && target.paired();
	}

	/**
	 * Returns whether a handler is known and needs no transaction.
	 */
	boolean isLeased(HandlerMethod handler) {
		Table loaded = this.table;
		IdempotentOperation operation = (loaded != null) ? loaded.annotated.get(Handler.of(handler)) : null;
		return operation != null && operation.transactions() == null;
	}

	/**
	 * Returns whether a request may have an operation. Spares most others from being
	 * parsed.
	 */
	boolean mayInclude(HttpServletRequest request) {
		Table loaded = this.table;
		return loaded != null && loaded.mayInclude(request.getMethod(), request.getRequestURI())
				&& !CorsUtils.isPreFlightRequest(request);
	}

	/**
	 * Finds the operation of a request that may have one, or {@code null}.
	 */
	@Nullable Target find(HttpServletRequest request) {
		Table loaded = Objects.requireNonNull(this.table);
		// Like the dispatcher servlet: a filter may have parsed another URL, and an error
		// page will have another one.
		Object parsedBefore = request.getAttribute(ServletRequestPathUtils.PATH_ATTRIBUTE);
		try {
			return loaded.find(request, ServletRequestPathUtils.parseAndCache(request).pathWithinApplication());
		}
		catch (IllegalArgumentException ex) {
			// The dispatcher servlet refuses such a path, too, but another servlet may
			// not.
			return null;
		}
		finally {
			ServletRequestPathUtils.setParsedRequestPath((RequestPath) parsedBefore, request);
		}
	}

	/**
	 * Finds the operation of a mapping, or {@code null}.
	 * @param handler its handler, or {@code null} for one that is not a method
	 * @param method its HTTP method
	 * @param pattern its path pattern
	 */
	@Nullable Target find(@Nullable HandlerMethod handler, RequestMethod method, PathContainer pattern) {
		Table loaded = this.table;
		if (loaded == null) {
			return null;
		}
		Target annotated = (handler != null) ? loaded.annotated(handler, null) : null;
		return (annotated != null || !loaded.mayRequireKey(Set.of(method), pattern)) ? annotated
				: loaded.required(handler, null);
	}

	private static <A extends Annotation> @Nullable A annotationOf(Handler handler, Class<A> type) {
		return AnnotatedElementUtils.findMergedAnnotation(handler.method(), type);
	}

	/**
	 * The operation of a request.
	 *
	 * @param operation the operation
	 * @param handler the handler, or {@code null} if it is not a method
	 * @param cors the CORS configuration of the handler, if any
	 * @param cancelled the action that the operation cancels, if any
	 * @param paired whether the operation cancels another one or can be cancelled
	 */
	record Target(IdempotentOperation operation, @Nullable Handler handler, @Nullable CorsConfiguration cors,
			@Nullable IdempotentOperation cancelled, boolean paired) {
	}

	/**
	 * The operations of an application.
	 */
	private static final class Table {

		private static final String ANY_METHOD = "*";

		private static final PathPattern ANY_PATH = PathPatternParser.defaultInstance.parse("/**");

		private final List<RequestMappingHandlerMapping> mappings;

		/**
		 * All mappings of each dispatcher servlet, by its context.
		 */
		private final Map<WebApplicationContext, List<? extends HandlerMapping>> mappingsOfServlets = new ConcurrentHashMap<>();

		private final OperationSettings defaults;

		private final @Nullable IdempotencyTransactionSource transactionSource;

		private final Map<Handler, IdempotentOperation> annotated = new HashMap<>();

		/**
		 * What selects each handler beside path and method.
		 */
		private final Map<Handler, Set<String>> conditions = new HashMap<>();

		/**
		 * The paths of annotated handlers by HTTP method; those for all methods have
		 * {@link #ANY_METHOD}.
		 */
		private final Map<String, List<PathPattern>> annotatedPaths = new HashMap<>();

		/**
		 * The action of each handler that cancels another one.
		 */
		private final Map<Handler, Handler> actions = new HashMap<>();

		private final List<Rule> rules;

		/**
		 * The methods of these paths and rules.
		 */
		private final Set<String> methods = new HashSet<>();

		/**
		 * The literal beginnings of these paths and rules.
		 */
		private final List<String> beginnings;

		private final IdempotentOperation requiredOfOthers;

		private final Map<Handler, IdempotentOperation> required = new ConcurrentHashMap<>();

		Table(List<RequestMappingHandlerMapping> mappings, IdempotencyWebSettings settings, OperationSettings defaults,
				@Nullable IdempotencyTransactionSource transactionSource) {
			this.mappings = mappings;
			this.defaults = defaults;
			this.transactionSource = transactionSource;
			this.requiredOfOthers = IdempotentOperation.ofRule(defaults, null, null);
			this.rules = Rule.matchedAs(mappings, settings.requiredFor());
			this.rules.forEach((rule) -> this.methods.add(rule.method()));
			loadConditions();
			loadAnnotated(settings.header());
			this.beginnings = beginnings();
			pairCancels(new ResponsePolicy(settings));
			checkRequired();
		}

		private void loadConditions() {
			this.mappings.forEach((mapping) -> mapping.getHandlerMethods()
				.forEach((pattern, method) -> this.conditions
					.computeIfAbsent(Handler.of(method), (key) -> new TreeSet<>())
					.add(conditionsOf(pattern, Handler.of(method)))));
		}

		/**
		 * As declared: values of a request, such as versions of a custom type, may have
		 * no stable text.
		 */
		private static String conditionsOf(RequestMappingInfo pattern, Handler handler) {
			String custom = (pattern.getCustomCondition() != null) ? handler.describe() : "";
			return pattern.getParamsCondition() + " " + pattern.getHeadersCondition() + " "
					+ pattern.getConsumesCondition() + " " + pattern.getProducesCondition() + " "
					+ pattern.getVersionCondition() + " " + custom;
		}

		private String conditionsOf(Handler handler) {
			Set<String> known = this.conditions.getOrDefault(handler, Set.of(""));
			if (known.size() > 1) {
				throw OperationSettings.mistake(handler.describe(),
						"is mapped several times with different conditions (parameters, headers, media types or "
								+ "versions), so that requests to one mapping could get responses of another",
						"Map a method of its own with each condition.", null);
			}
			return known.iterator().next();
		}

		private void loadAnnotated(String keyHeader) {
			Map<Handler, Set<String>> pathVariables = new HashMap<>();
			OperationNames names = new OperationNames();
			this.mappings.forEach((mapping) -> mapping.getHandlerMethods().forEach((pattern, method) -> {
				Idempotent annotation = method.getMethodAnnotation(Idempotent.class);
				if (annotation != null) {
					Handler handler = Handler.of(method);
					addPattern(pattern);
					IdempotentOperation operation = IdempotentOperation.of(handler, conditionsOf(handler), annotation,
							keyHeader, this.defaults, this.transactionSource);
					this.annotated.put(handler, operation);
					if (operation.isNamedInKeys()) {
						addName(names, operation, method);
					}
					if (operation.keyExpression() != null) {
						pathVariables.computeIfAbsent(handler, (key) -> new TreeSet<>())
							.addAll(pathVariablesOf(pattern));
					}
				}
			}));
			this.annotated.forEach((handler, operation) -> operation.requirePathVariables(handler.describe(),
					pathVariables.getOrDefault(handler, Set.of())));
		}

		private static void addName(OperationNames names, IdempotentOperation operation, HandlerMethod method) {
			Object bean = method.getBean();
			names.add(operation.settings().name(),
					(bean instanceof String name) ? name : ObjectUtils.identityToString(bean), null,
					Handler.of(method).describe());
		}

		private void addPattern(RequestMappingInfo pattern) {
			Set<String> mapped = new HashSet<>();
			pattern.getMethodsCondition().getMethods().forEach((method) -> mapped.add(method.name()));
			if (mapped.isEmpty()) {
				mapped.add(ANY_METHOD);
			}
			if (mapped.contains("GET")) {
				mapped.add("HEAD");
			}
			PathPatternsRequestCondition condition = pattern.getPathPatternsCondition();
			Set<PathPattern> paths = (condition != null) ? condition.getPatterns() : Set.of(ANY_PATH);
			mapped.forEach(
					(method) -> this.annotatedPaths.computeIfAbsent(method, (key) -> new ArrayList<>()).addAll(paths));
			this.methods.addAll(mapped);
		}

		/**
		 * Those that contain another one add nothing.
		 */
		private List<String> beginnings() {
			boolean caseSensitive = this.mappings.stream()
				.map(RequestMappingHandlerMapping::getPatternParser)
				.allMatch((parser) -> parser == null || parser.isCaseSensitive());
			Set<String> all = Stream
				.concat(this.rules.stream().map(Rule::path),
						this.annotatedPaths.values().stream().flatMap(List::stream))
				.map((path) -> caseSensitive ? beginningOf(path) : "")
				.collect(Collectors.toSet());
			return all.stream()
				.filter((one) -> all.stream().noneMatch((other) -> !one.equals(other) && one.contains(other)))
				.toList();
		}

		/**
		 * Without a slash at its end: {@code /orders/**} matches {@code /orders}, too.
		 */
		private static String beginningOf(PathPattern path) {
			return path.getPatternString().split("/?[{*?]|/$", 2)[0];
		}

		private static Set<String> pathVariablesOf(RequestMappingInfo pattern) {
			return pattern.getPatternValues()
				.stream()
				.flatMap((value) -> new UriTemplate(value).getVariableNames().stream())
				.map((name) -> name.startsWith("*") ? name.substring(1) : name)
				.collect(Collectors.toSet());
		}

		/**
		 * Checks at start-up that each handler with a required key can have an operation.
		 */
		private void checkRequired() {
			this.mappings.forEach((mapping) -> mapping.getHandlerMethods().forEach((info, handler) -> {
				if (!handler.hasMethodAnnotation(Idempotent.class) && info.getPatternValues()
					.stream()
					.map(PathContainer::parsePath)
					.anyMatch((path) -> mayRequireKey(info.getMethodsCondition().getMethods(), path))) {
					required(handler, null);
				}
			}));
		}

		boolean mayInclude(String method, String uri) {
			return (this.methods.contains(method) || this.methods.contains(ANY_METHOD)) && mayMatch(uri);
		}

		/**
		 * An encoded path, or one with parameters, may match in another spelling.
		 */
		private boolean mayMatch(String uri) {
			if (uri.indexOf('%') >= 0 || uri.indexOf(';') >= 0) {
				return true;
			}
			for (String beginning : this.beginnings) {
				if (uri.contains(beginning)) {
					return true;
				}
			}
			return false;
		}

		@Nullable Target find(HttpServletRequest request, PathContainer path) {
			String method = request.getMethod();
			boolean keyRequired = !this.rules.isEmpty()
					&& this.rules.stream().anyMatch((rule) -> rule.matches(method, path));
			if (!keyRequired && !isAnnotated(method, path) && !isAnnotated(ANY_METHOD, path)) {
				return null;
			}
			HandlerExecutionChain chain = chainOf(request);
			if (chain == null || !(chain.getHandler() instanceof HandlerMethod handler)) {
				return keyRequired ? required(null, null) : null;
			}
			CorsConfiguration cors = cors(chain, request);
			Target found = annotated(handler, cors);
			return (found != null || !keyRequired) ? found : required(handler, cors);
		}

		@Nullable Target annotated(HandlerMethod method, @Nullable CorsConfiguration cors) {
			Handler handler = Handler.of(method);
			IdempotentOperation operation = this.annotated.get(handler);
			if (operation == null) {
				return null;
			}
			Handler action = this.actions.get(handler);
			return new Target(operation, handler, cors, (action != null) ? this.annotated.get(action) : null,
					action != null || this.actions.containsValue(handler));
		}

		/**
		 * Returns the operation of a handler that is not annotated. One that is not a
		 * method has no transactions.
		 */
		Target required(@Nullable HandlerMethod method, @Nullable CorsConfiguration cors) {
			Handler handler = (method != null) ? Handler.of(method) : null;
			IdempotentOperation operation = (handler == null) ? this.requiredOfOthers
					: this.required.computeIfAbsent(handler,
							(key) -> IdempotentOperation.ofRule(this.defaults, conditionsOf(key),
									(this.defaults.guarantee() == Guarantee.TRANSACTION)
											? IdempotentOperation.transactions(key, this.transactionSource) : null));
			return new Target(operation, handler, cors, null, false);
		}

		/**
		 * Returns whether requests to a mapping may need a key.
		 * @param methods the mapping's methods; empty means all
		 * @param pattern the mapping's path pattern
		 */
		boolean mayRequireKey(Set<RequestMethod> methods, PathContainer pattern) {
			return this.rules.stream()
				.anyMatch((rule) -> (methods.isEmpty() || methods.contains(RequestMethod.resolve(rule.method())))
						&& rule.path().matches(pattern));
		}

		private boolean isAnnotated(String method, PathContainer path) {
			List<PathPattern> patterns = this.annotatedPaths.getOrDefault(method, List.of());
			// Without an iterator for each request of the application.
			for (int i = 0; i < patterns.size(); i++) {
				if (patterns.get(i).matches(path)) {
					return true;
				}
			}
			return false;
		}

		/**
		 * Asks all mappings as the dispatcher servlet does: another one may come first.
		 */
		private @Nullable HandlerExecutionChain chainOf(HttpServletRequest request) {
			try {
				for (HandlerMapping mapping : mappingsOf(request)) {
					HandlerExecutionChain chain = mapping.getHandler(request);
					if (chain != null) {
						request.setAttribute(RequestFingerprinter.VERSION, version(mapping, request));
						return chain;
					}
				}
				return null;
			}
			catch (Exception ex) {
				// The dispatcher servlet will reject it (405, 415, ...).
				return null;
			}
		}

		private static @Nullable String version(HandlerMapping mapping, HttpServletRequest request) {
			ApiVersionStrategy versions = (mapping instanceof AbstractHandlerMapping versioned)
					? versioned.getApiVersionStrategy() : null;
			return (versions != null) ? versions.resolveVersion(request) : null;
		}

		/**
		 * The mappings of the servlet of a request. Another servlet can have the same
		 * paths.
		 */
		private List<? extends HandlerMapping> mappingsOf(HttpServletRequest request) {
			String servlet = request.getHttpServletMapping().getServletName();
			ServletContext container = request.getServletContext();
			if (container
				.getAttribute(FrameworkServlet.SERVLET_CONTEXT_PREFIX + servlet) instanceof WebApplicationContext own) {
				return this.mappingsOfServlets.computeIfAbsent(own, Table::mappingsOf);
			}
			// A container may initialize a servlet behind the filters.
			ServletRegistration registration = container.getServletRegistration(servlet);
			return (registration == null || isDispatcher(registration.getClassName())) ? this.mappings : List.of();
		}

		private static List<HandlerMapping> mappingsOf(WebApplicationContext context) {
			List<HandlerMapping> mappings = new ArrayList<>(
					BeanFactoryUtils.beansOfTypeIncludingAncestors(context, HandlerMapping.class, true, false)
						.values());
			AnnotationAwareOrderComparator.sort(mappings);
			return mappings;
		}

		private static boolean isDispatcher(String type) {
			return FrameworkServlet.class.isAssignableFrom(ClassUtils.resolveClassName(type, null));
		}

		/**
		 * The mapping exposes its CORS configuration only through an interceptor.
		 */
		private static @Nullable CorsConfiguration cors(HandlerExecutionChain chain, HttpServletRequest request) {
			for (HandlerInterceptor interceptor : chain.getInterceptorList()) {
				if (interceptor instanceof CorsConfigurationSource source) {
					return source.getCorsConfiguration(request);
				}
			}
			return null;
		}

		/**
		 * Pairs the handlers that cancel others with their actions.
		 */
		private void pairCancels(ResponsePolicy policy) {
			this.annotated.forEach((handler, cancel) -> {
				Cancels annotation = annotationOf(handler, Cancels.class);
				if (annotation != null) {
					Handler action = actionOf(handler, annotation.value());
					checkPair(handler, cancel, action, Objects.requireNonNull(this.annotated.get(action)));
					if (!policy.isCommitted(HttpStatus.NO_CONTENT.value())) {
						throw cancelMistake(handler,
								"responds with 204 to the cancellation of an action that had no effect, and that "
										+ "status is not stored",
								"Add 204 to idempotent.web.stored-statuses.");
					}
					this.actions.put(handler, action);
				}
			});
		}

		private Handler actionOf(Handler cancel, String name) {
			List<Handler> named = this.annotated.keySet()
				.stream()
				.filter((handler) -> Objects.requireNonNull(this.annotated.get(handler)).settings().name().equals(name))
				.toList();
			if (named.size() != 1) {
				throw cancelMistake(cancel,
						named.isEmpty() ? "cancels '" + name + "', and no @Idempotent web handler has that name"
								: "cancels '" + name + "', and " + named.size() + " web handlers have that name",
						"Name the handler of the action, and no other one, @Idempotent(name = \"" + name + "\").");
			}
			return named.get(0);
		}

		private static void checkPair(Handler handler, IdempotentOperation cancel, Handler actionHandler,
				IdempotentOperation action) {
			String described = actionHandler.describe();
			if (annotationOf(actionHandler, Cancels.class) != null) {
				throw cancelMistake(handler, "cancels " + described + ", which is itself a cancellation",
						"Name the handler whose effect it undoes.");
			}
			requireFit(handler, "", cancel);
			requireFit(handler, "cancels " + described + ", which ", action);
			if (!Objects.requireNonNull(cancel.transactions())
				.isSameResource(Objects.requireNonNull(action.transactions()))) {
				throw cancelMistake(handler,
						"cancels " + described + ", which has another transaction manager or DataSource",
						"Let both use the same one.");
			}
		}

		private static void requireFit(Handler handler, String subject, IdempotentOperation operation) {
			if (operation.keyExpression() != null || operation.keySource() != KeySource.HEADER) {
				throw cancelMistake(handler, subject + "does not take its key from the header",
						"Use from = KeySource.HEADER without a key expression for both handlers.");
			}
			if (operation.transactions() == null) {
				throw cancelMistake(handler, subject + "has Guarantee.LEASE",
						"Use guarantee = Guarantee.TRANSACTION for both handlers.");
			}
		}

		private static IdempotentConfigurationException cancelMistake(Handler handler, String problem, String action) {
			return IdempotentConfigurationException.ofMethod(Cancels.class, handler.describe(), problem, action, null);
		}

	}

	/**
	 * A rule that requests need a key although their handler is not annotated.
	 *
	 * @param method the HTTP method
	 * @param path the pattern of the path within the application
	 */
	record Rule(String method, PathPattern path) {

		private static final Pattern RULE = Pattern.compile("([A-Z]+) +(/\\S*)");

		/**
		 * Parses a rule.
		 * @param rule method and path pattern, such as {@code POST /api/**}
		 * @throws IdempotentConfigurationException if it is malformed
		 */
		static Rule parse(String rule) {
			return parse(rule, PathPatternParser.defaultInstance);
		}

		private static Rule parse(String rule, PathPatternParser parser) {
			Matcher words = RULE.matcher(rule.strip());
			if (!words.matches()) {
				throw malformed("'" + rule + "' is not an HTTP method followed by a path pattern", null);
			}
			try {
				return new Rule(words.group(1), parser.parse(words.group(2)));
			}
			catch (PatternParseException ex) {
				throw malformed(ex.getMessage(), ex);
			}
		}

		private static IdempotentConfigurationException malformed(String mistake, @Nullable Throwable cause) {
			return new IdempotentConfigurationException("idempotent.web.required-for: " + mistake + ".",
					"List HTTP methods with path patterns, such as POST /api/**.", cause);
		}

		/**
		 * Parses rules for paths that are matched as any of the mappings does, such as
		 * without regard to case.
		 */
		static List<Rule> matchedAs(List<RequestMappingHandlerMapping> mappings, List<String> rules) {
			return mappings.stream()
				.map((mapping) -> Objects.requireNonNullElse(mapping.getPatternParser(),
						PathPatternParser.defaultInstance))
				.flatMap((parser) -> rules.stream().map((rule) -> parse(rule, parser)))
				.distinct()
				.toList();
		}

		boolean matches(String requestMethod, PathContainer requestPath) {
			return this.method.equals(requestMethod) && this.path.matches(requestPath);
		}

	}

}
