package dev.idempotent.idempotency.web;

import java.lang.annotation.Annotation;
import java.lang.reflect.Method;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import java.util.function.Supplier;
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
import jakarta.servlet.ServletRegistration;
import jakarta.servlet.http.HttpServletRequest;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.http.server.PathContainer;
import org.springframework.util.Assert;
import org.springframework.util.ClassUtils;
import org.springframework.util.ObjectUtils;
import org.springframework.web.accept.ApiVersionStrategy;
import org.springframework.web.bind.annotation.RequestMethod;
import org.springframework.web.context.WebApplicationContext;
import org.springframework.web.cors.CorsUtils;
import org.springframework.web.method.HandlerMethod;
import org.springframework.web.servlet.DispatcherServlet;
import org.springframework.web.servlet.HandlerMapping;
import org.springframework.web.servlet.function.support.RouterFunctionMapping;
import org.springframework.web.servlet.handler.AbstractHandlerMapping;
import org.springframework.web.servlet.handler.AbstractHandlerMethodMapping;
import org.springframework.web.servlet.handler.AbstractUrlHandlerMapping;
import org.springframework.web.servlet.handler.BeanNameUrlHandlerMapping;
import org.springframework.web.servlet.handler.SimpleUrlHandlerMapping;
import org.springframework.web.servlet.mvc.method.RequestMappingInfo;
import org.springframework.web.servlet.mvc.method.annotation.RequestMappingHandlerMapping;
import org.springframework.web.util.ServletRequestPathUtils;
import org.springframework.web.util.UriTemplate;
import org.springframework.web.util.pattern.PathPattern;
import org.springframework.web.util.pattern.PathPatternParser;
import org.springframework.web.util.pattern.PatternParseException;

/**
 * Knows the operation of each handler, from its annotation or from a rule that its
 * requests need a key. Loaded once the mappings of the application are known; until then
 * no handler has an operation.
 */
public final class IdempotentOperations {

	private volatile @Nullable Table table;

	private volatile boolean callersKnown;

	/**
	 * Reads the annotations of all handlers.
	 * @param mappings the mappings that requests are dispatched with, in their order
	 * @param others all mappings of the application and its libraries: one that does not
	 * tell what it maps may find an annotated handler for any HTTP method
	 * @param settings the settings, with the requests that need a key
	 * @param defaults the defaults of the annotation's attributes
	 * @param transactionSource resolves the transactions of handlers, or {@code null}
	 * without a database
	 * @param check checks each annotated handler, also one that is mapped later
	 * @return the annotated handlers
	 * @throws IdempotentConfigurationException if an annotation cannot be applied to its
	 * handler
	 */
	public List<OperationSummary> load(List<RequestMappingHandlerMapping> mappings, Collection<HandlerMapping> others,
			IdempotencyWebSettings settings, OperationSettings defaults,
			@Nullable IdempotencyTransactionSource transactionSource, Consumer<HandlerMethod> check) {
		Table loaded = new Table(mappings, others, settings, defaults, transactionSource, check);
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
		loaded.reject(new RejectedSource(source, mistake, action));
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
	 * Returns whether a handler has the annotation.
	 */
	boolean isAnnotated(HandlerMethod handler) {
		Table loaded = this.table;
		return (loaded != null) ? loaded.isAnnotated(handler) : handler.hasMethodAnnotation(Idempotent.class);
	}

	/**
	 * Returns whether an annotated handler needs no transaction.
	 */
	boolean isLeased(HandlerMethod handler, HttpServletRequest request) {
		Table loaded = this.table;
		return loaded != null && loaded.operationOf(handler, request).transactions() == null;
	}

	/**
	 * Returns whether requests with an HTTP method may have an operation.
	 */
	boolean mayInclude(String method) {
		Table loaded = this.table;
		return loaded != null && loaded.mayInclude(method);
	}

	/**
	 * Returns whether requests to a handler may have an operation.
	 */
	boolean mayClaimFor(Object handler) {
		Table loaded = Objects.requireNonNull(this.table);
		return !loaded.rules.isEmpty() || (handler instanceof HandlerMethod method && loaded.isAnnotated(method));
	}

	/**
	 * Lets requests with an HTTP method have operations from now on.
	 * @return whether they could not have one before
	 */
	boolean learn(String method) {
		Table loaded = this.table;
		return loaded != null && !loaded.mayInclude(method) && loaded.methods.add(method);
	}

	/**
	 * Finds the operation of a request that has reached its handler, or {@code null}.
	 * @param mapping the mapping that has found the handler, or {@code null} if that is
	 * not known
	 */
	@Nullable Target find(Object handler, @Nullable HandlerMapping mapping, HttpServletRequest request) {
		Table loaded = Objects.requireNonNull(this.table);
		HandlerMethod method = (handler instanceof HandlerMethod known) ? known : null;
		Target target = (method != null && loaded.isAnnotated(method)) ? loaded.annotated(method, request)
				: loaded.requiresKey(request) ? loaded.required(method, request) : null;
		if (target != null) {
			request.setAttribute(RequestFingerprinter.SELECTION, loaded.selectionOf(handler, mapping, request));
		}
		return target;
	}

	/**
	 * Returns whether the servlet of a request is a dispatcher servlet, which knows the
	 * handler.
	 */
	boolean isDispatched(HttpServletRequest request) {
		return Objects.requireNonNull(this.table).isDispatched(request);
	}

	/**
	 * Finds the operation of a request to a servlet that is not a dispatcher servlet, or
	 * {@code null}.
	 */
	@Nullable Target findOutsideMvc(HttpServletRequest request) {
		Table loaded = Objects.requireNonNull(this.table);
		return loaded.requiresKeyOutsideMvc(request) ? loaded.required(null) : null;
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
		Target annotated = (handler != null) ? loaded.annotated(Handler.of(handler)) : null;
		return (annotated != null || !loaded.mayRequireKey(Set.of(method), pattern)) ? annotated
				: loaded.required(handler);
	}

	private static <A extends Annotation> @Nullable A annotationOf(Handler handler, Class<A> type) {
		return AnnotatedElementUtils.findMergedAnnotation(handler.method(), type);
	}

	/**
	 * The operation of a request.
	 *
	 * @param operation the operation
	 * @param handler the handler, or {@code null} if it is not a method
	 * @param cancelled the action that the operation cancels, if any
	 * @param paired whether the operation cancels another one or can be cancelled
	 */
	record Target(IdempotentOperation operation, @Nullable Handler handler, @Nullable IdempotentOperation cancelled,
			boolean paired) {
	}

	/**
	 * The operations of an application.
	 */
	private static final class Table {

		private static final String ANY_METHOD = "*";

		/**
		 * The handlers of the actuator's endpoints are no beans, and each has a path of
		 * its own.
		 */
		private static final String ENDPOINT = "org.springframework.boot.webmvc.actuate.endpoint.web."
				+ "AbstractWebMvcEndpointHandlerMapping$OperationHandler";

		/**
		 * Predicates of functional endpoints are not compared, as documented.
		 */
		private static final Set<Class<?>> FOUND_BY_PATH = Set.of(BeanNameUrlHandlerMapping.class,
				SimpleUrlHandlerMapping.class, RouterFunctionMapping.class);

		/**
		 * Handlers that are mapped after the start mostly have one of these.
		 */
		private static final Set<String> UNSAFE_METHODS = Set.of("POST", "PUT", "PATCH", "DELETE");

		private final OperationSettings defaults;

		private final String keyHeader;

		private final @Nullable IdempotencyTransactionSource transactionSource;

		private final Consumer<HandlerMethod> check;

		private final List<RejectedSource> rejected = new CopyOnWriteArrayList<>();

		private final OperationNames names = new OperationNames();

		private final Map<Handler, IdempotentOperation> annotated = new ConcurrentHashMap<>();

		private final Map<Method, Boolean> annotations = new ConcurrentHashMap<>();

		/**
		 * What selects each handler beside path and method.
		 */
		private final Map<Handler, Set<String>> conditions = new ConcurrentHashMap<>();

		/**
		 * The beans that custom conditions select, which are not compared, by the handler
		 * method that they share.
		 */
		private final Map<Handler, Set<String>> selectedBeans = new ConcurrentHashMap<>();

		/**
		 * The handlers that were mapped after the start.
		 */
		private final Set<Handler> late = ConcurrentHashMap.newKeySet();

		/**
		 * The strategies of all mappings of each dispatcher servlet, by its context.
		 */
		private final Map<WebApplicationContext, List<ApiVersionStrategy>> versions = new ConcurrentHashMap<>();

		/**
		 * The action of each handler that cancels another one.
		 */
		private final Map<Handler, Handler> actions = new HashMap<>();

		private final List<Rule> rules;

		/**
		 * The HTTP methods of annotated handlers and rules.
		 */
		private final Set<String> methods = ConcurrentHashMap.newKeySet();

		private final IdempotentOperation requiredOfOthers;

		private final Map<Handler, IdempotentOperation> required = new ConcurrentHashMap<>();

		private final Map<String, Boolean> dispatched = new ConcurrentHashMap<>();

		Table(List<RequestMappingHandlerMapping> mappings, Collection<HandlerMapping> others,
				IdempotencyWebSettings settings, OperationSettings defaults,
				@Nullable IdempotencyTransactionSource transactionSource, Consumer<HandlerMethod> check) {
			this.defaults = defaults;
			this.keyHeader = settings.header();
			this.transactionSource = transactionSource;
			this.check = check;
			this.requiredOfOthers = IdempotentOperation.ofRule(defaults, null, null);
			this.rules = Rule.matchedAs(mappings, settings.requiredFor());
			this.methods.addAll(UNSAFE_METHODS);
			this.rules.forEach((rule) -> this.methods.add(rule.method()));
			if (!others.stream().allMatch(Table::tellsItsMethods)) {
				this.methods.add(ANY_METHOD);
			}
			mappings.forEach((mapping) -> mapping.getHandlerMethods().forEach(this::addConditions));
			loadAnnotated(mappings);
			pairCancels();
			checkRequired(mappings);
		}

		private void addConditions(RequestMappingInfo pattern, HandlerMethod method) {
			Handler handler = Handler.of(method);
			this.conditions.computeIfAbsent(handler, (key) -> new ConcurrentSkipListSet<>())
				.add(conditionsOf(pattern, handler));
			if (pattern.getCustomCondition() != null) {
				this.selectedBeans.computeIfAbsent(handler, (key) -> ConcurrentHashMap.newKeySet()).add(beanOf(method));
			}
		}

		/**
		 * Returns the name of the bean of a handler, or what identifies the object in
		 * this process.
		 */
		private static String beanOf(HandlerMethod method) {
			HandlerMethod declared = method.getResolvedFromHandlerMethod();
			Object bean = (declared != null) ? declared.getBean() : method.getBean();
			return (bean instanceof String name) ? name : ObjectUtils.identityToString(bean);
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
			if (this.selectedBeans.getOrDefault(handler, Set.of()).size() > 1) {
				throw OperationSettings.mistake(handler.describe(),
						"is mapped for several beans with custom conditions, so that requests to one bean could get "
								+ "responses of another",
						"Map a class of its own with each condition.", null);
			}
			return known.iterator().next();
		}

		private void loadAnnotated(List<RequestMappingHandlerMapping> mappings) {
			Map<Handler, Set<String>> pathVariables = new HashMap<>();
			mappings.forEach((mapping) -> mapping.getHandlerMethods().forEach((pattern, method) -> {
				if (isAnnotated(method)) {
					Handler handler = Handler.of(method);
					addMethods(pattern);
					addName(method, this.annotated.computeIfAbsent(handler, (key) -> create(method)));
					pathVariables.computeIfAbsent(handler, (key) -> new TreeSet<>()).addAll(pathVariablesOf(pattern));
				}
			}));
			this.annotated.forEach((handler, operation) -> operation.requirePathVariables(handler.describe(),
					pathVariables.getOrDefault(handler, Set.of())));
		}

		private IdempotentOperation create(HandlerMethod method) {
			Handler handler = Handler.of(method);
			this.check.accept(method);
			IdempotentOperation operation = IdempotentOperation.of(handler, conditionsOf(handler),
					Objects.requireNonNull(annotationOf(handler, Idempotent.class)), this.keyHeader, this.defaults,
					this.transactionSource);
			this.rejected.forEach((source) -> source.reject(handler, operation));
			return operation;
		}

		private void addName(HandlerMethod method, IdempotentOperation operation) {
			if (operation.isNamedInKeys()) {
				this.names.add(operation.settings().name(), beanOf(method), null, Handler.of(method).describe());
			}
		}

		void reject(RejectedSource source) {
			this.rejected.add(source);
			this.annotated.forEach(source::reject);
		}

		boolean isAnnotated(HandlerMethod handler) {
			return this.annotations.computeIfAbsent(handler.getMethod(),
					(key) -> handler.hasMethodAnnotation(Idempotent.class));
		}

		IdempotentOperation operationOf(HandlerMethod method, HttpServletRequest request) {
			Handler handler = Handler.of(method);
			IdempotentOperation known = this.annotated.get(handler);
			Set<String> selected = this.selectedBeans.get(handler);
			return (known != null && !this.late.contains(handler)
					&& (selected == null || selected.contains(beanOf(method)))) ? known : addLate(method, request);
		}

		/**
		 * Adds a handler that was mapped after the start, or by a mapping of another
		 * dispatcher servlet. Such a handler may be mapped again at any time.
		 */
		private synchronized IdempotentOperation addLate(HandlerMethod method, HttpServletRequest request) {
			Handler handler = Handler.of(method);
			if (annotationOf(handler, Cancels.class) != null) {
				throw cancelMistake(handler, "cancels another handler and was mapped after the start",
						"Declare it as a handler method of a controller bean.");
			}
			addLateConditions(handler, request);
			IdempotentOperation known = this.annotated.get(handler);
			if (known != null) {
				return known;
			}
			IdempotentOperation operation = create(method);
			addName(method, operation);
			this.late.add(handler);
			this.annotated.put(handler, operation);
			return operation;
		}

		private void addLateConditions(Handler handler, HttpServletRequest request) {
			beansFor(request, RequestMappingHandlerMapping.class)
				.forEach((mapping) -> mapping.getHandlerMethods().forEach((pattern, mapped) -> {
					if (Handler.of(mapped).equals(handler)) {
						addConditions(pattern, mapped);
					}
				}));
			// Any condition may select a handler of a mapping that does not tell.
			this.conditions.computeIfAbsent(handler, (key) -> new ConcurrentSkipListSet<>(Set.of(handler.describe())));
			String unused = conditionsOf(handler);
		}

		private void addMethods(RequestMappingInfo pattern) {
			Set<RequestMethod> mapped = pattern.getMethodsCondition().getMethods();
			mapped.forEach((method) -> this.methods.add(method.name()));
			if (mapped.contains(RequestMethod.GET)) {
				this.methods.add("HEAD");
			}
			if (mapped.isEmpty()) {
				this.methods.add(ANY_METHOD);
			}
		}

		boolean mayInclude(String method) {
			return this.methods.contains(method) || this.methods.contains(ANY_METHOD);
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
		private void checkRequired(List<RequestMappingHandlerMapping> mappings) {
			mappings.forEach((mapping) -> mapping.getHandlerMethods().forEach((info, handler) -> {
				if (!isAnnotated(handler) && info.getPatternValues()
					.stream()
					.map(PathContainer::parsePath)
					.anyMatch((path) -> mayRequireKey(info.getMethodsCondition().getMethods(), path))) {
					required(handler);
				}
			}));
		}

		Target annotated(HandlerMethod method, HttpServletRequest request) {
			return target(Handler.of(method), operationOf(method, request));
		}

		@Nullable Target annotated(Handler handler) {
			IdempotentOperation operation = this.annotated.get(handler);
			return (operation != null) ? target(handler, operation) : null;
		}

		private Target target(Handler handler, IdempotentOperation operation) {
			Handler action = this.actions.get(handler);
			return new Target(operation, handler, (action != null) ? this.annotated.get(action) : null,
					action != null || this.actions.containsValue(handler));
		}

		/**
		 * Returns what has selected a handler beside the declared conditions: the API
		 * version as the client has stated it, and the handler itself unless it was found
		 * by a mapping that selects by what is compared; any other one can select by
		 * anything. A parsed version may have no stable text, and may be a default that
		 * was introduced since.
		 */
		String selectionOf(Object handler, @Nullable HandlerMapping mapping, HttpServletRequest request) {
			List<ApiVersionStrategy> strategies = versionsOf(request);
			String selection = strategies.isEmpty() ? ""
					: strategies.stream()
						.map((strategy) -> Objects.requireNonNullElse(strategy.resolveVersion(request), ""))
						.collect(Collectors.joining(" "));
			return (mapping != null && selectsByWhatIsCompared(mapping)) ? selection
					: selection + " " + identityOf(handler, mapping, request);
		}

		/**
		 * Not one that extends these, or that looks the path up in another way.
		 */
		private static boolean selectsByWhatIsCompared(HandlerMapping mapping) {
			Class<?> type = mapping.getClass();
			return FOUND_BY_PATH.contains(type)
					|| (type == RequestMappingHandlerMapping.class && mapping.usesPathPatterns());
		}

		/**
		 * Returns whether all annotated handlers that a mapping finds are known, or it
		 * finds no methods.
		 */
		private static boolean tellsItsMethods(HandlerMapping mapping) {
			return mapping instanceof RequestMappingHandlerMapping || mapping instanceof RouterFunctionMapping
					|| (mapping instanceof AbstractHandlerMethodMapping<?> methods && methods.getHandlerMethods()
						.values()
						.stream()
						.noneMatch((method) -> method.hasMethodAnnotation(Idempotent.class)))
					|| (mapping instanceof AbstractUrlHandlerMapping urls
							&& urls.getHandlerMap().values().stream().noneMatch(HandlerMethod.class::isInstance));
		}

		/**
		 * The same in all instances. Two beans of one class have different names; two
		 * other objects could not be told apart.
		 */
		private static String identityOf(Object handler, @Nullable HandlerMapping mapping, HttpServletRequest request) {
			HandlerMethod method = (handler instanceof HandlerMethod known) ? known : null;
			HandlerMethod declared = (method != null) ? method.getResolvedFromHandlerMethod() : null;
			Object bean = (declared != null) ? declared.getBean() : (method != null) ? method.getBean() : handler;
			String type = (method != null) ? Handler.of(method).describe()
					: AopUtils.getTargetClass(handler).getName().split("\\$\\$", 2)[0];
			String name = (bean instanceof String known) ? known : nameOf(bean, request);
			if (name != null) {
				return type + " " + name;
			}
			if (!bean.getClass().getName().equals(ENDPOINT) && !isOnlyOneOf(mapping, handler)) {
				throw new IllegalStateException("The handler " + type
						+ " was not run: it is not a bean, and its mapping "
						+ ((mapping != null) ? mapping.getClass().getName() + " " : "")
						+ "may select another object of its class for the same request, so that one could get the "
						+ "responses of the other. Declare it as a bean.");
			}
			return type;
		}

		/**
		 * An instance of a bean that is not a singleton has the name of the only such
		 * bean of its class.
		 */
		private static @Nullable String nameOf(Object bean, HttpServletRequest request) {
			WebApplicationContext context = contextOf(request);
			String only = null;
			int others = 0;
			for (String name : BeanFactoryUtils.beanNamesForTypeIncludingAncestors(context, bean.getClass())) {
				if (!context.isSingleton(name)) {
					only = name;
					others++;
				}
				else if (context.getBean(name) == bean) {
					return name;
				}
			}
			return (others == 1) ? only : null;
		}

		/**
		 * Returns whether a mapping that tells what it maps has no other object of the
		 * class of a handler.
		 */
		private static boolean isOnlyOneOf(@Nullable HandlerMapping mapping, Object handler) {
			if (mapping instanceof AbstractHandlerMethodMapping<?> methods && handler instanceof HandlerMethod method) {
				return isOnlyOneOf(methods.getHandlerMethods()
					.values()
					.stream()
					.filter((mapped) -> Handler.of(mapped).equals(Handler.of(method)))
					.map(HandlerMethod::getBean), method.getBean());
			}
			return mapping instanceof AbstractUrlHandlerMapping urls
					&& isOnlyOneOf(
							Stream
								.concat(urls.getHandlerMap().values().stream(),
										Stream.of(urls.getRootHandler(), urls.getDefaultHandler()))
								.filter((mapped) -> mapped != null && mapped.getClass() == handler.getClass()),
							handler);
		}

		private static boolean isOnlyOneOf(Stream<? extends @Nullable Object> mapped, Object handler) {
			List<? extends @Nullable Object> all = mapped.toList();
			return !all.isEmpty() && all.stream().allMatch((one) -> one == handler);
		}

		private List<ApiVersionStrategy> versionsOf(HttpServletRequest request) {
			return this.versions.computeIfAbsent(contextOf(request),
					(context) -> beansFor(request, AbstractHandlerMapping.class).stream()
						.map(AbstractHandlerMapping::getApiVersionStrategy)
						.filter(Objects::nonNull)
						.distinct()
						.toList());
		}

		private static <T> Collection<T> beansFor(HttpServletRequest request, Class<T> type) {
			return BeanFactoryUtils.beansOfTypeIncludingAncestors(contextOf(request), type, true, false).values();
		}

		private static WebApplicationContext contextOf(HttpServletRequest request) {
			return (WebApplicationContext) Objects
				.requireNonNull(request.getAttribute(DispatcherServlet.WEB_APPLICATION_CONTEXT_ATTRIBUTE));
		}

		/**
		 * Returns the operation of a handler that is not annotated. One that is not a
		 * method has no transactions.
		 */
		Target required(@Nullable HandlerMethod method, HttpServletRequest request) {
			Handler handler = (method != null) ? Handler.of(method) : null;
			if (handler != null && (this.late.contains(handler) || !this.conditions.containsKey(handler))) {
				this.late.add(handler);
				addLateConditions(handler, request);
			}
			return required(method);
		}

		Target required(@Nullable HandlerMethod method) {
			Handler handler = (method != null) ? Handler.of(method) : null;
			IdempotentOperation operation = (handler == null) ? this.requiredOfOthers
					: this.required.computeIfAbsent(handler,
							(key) -> IdempotentOperation.ofRule(this.defaults, conditionsOf(key),
									(this.defaults.guarantee() == Guarantee.TRANSACTION)
											? IdempotentOperation.transactions(key, this.transactionSource) : null));
			return new Target(operation, handler, null, false);
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

		boolean requiresKey(HttpServletRequest request) {
			return mayRequireKey(request)
					&& requiresKey(request, () -> ServletRequestPathUtils.parse(request).pathWithinApplication());
		}

		/**
		 * Of a servlet that is not a dispatcher servlet, the path includes the one that
		 * it is mapped to.
		 */
		boolean requiresKeyOutsideMvc(HttpServletRequest request) {
			return requiresKey(request) || (mayRequireKey(request)
					&& requiresKey(request, () -> PathContainer.parsePath(RequestAddress.path(request))));
		}

		private boolean mayRequireKey(HttpServletRequest request) {
			return !this.rules.isEmpty() && !CorsUtils.isPreFlightRequest(request);
		}

		private boolean requiresKey(HttpServletRequest request, Supplier<PathContainer> path) {
			try {
				PathContainer parsed = path.get();
				return this.rules.stream().anyMatch((rule) -> rule.matches(request.getMethod(), parsed));
			}
			catch (IllegalArgumentException ex) {
				// A dispatcher servlet has refused such a path.
				return false;
			}
		}

		/**
		 * Returns whether the servlet of a request is a dispatcher servlet, which knows
		 * the handler.
		 */
		boolean isDispatched(HttpServletRequest request) {
			return this.dispatched.computeIfAbsent(request.getHttpServletMapping().getServletName(), (name) -> {
				ServletRegistration servlet = request.getServletContext().getServletRegistration(name);
				return servlet == null
						|| (servlet.getClassName() != null && DispatcherServlet.class.isAssignableFrom(ClassUtils
							.resolveClassName(servlet.getClassName(), request.getServletContext().getClassLoader())));
			});
		}

		/**
		 * Pairs the handlers that cancel others with their actions.
		 */
		private void pairCancels() {
			this.annotated.forEach((handler, cancel) -> {
				Cancels annotation = annotationOf(handler, Cancels.class);
				if (annotation != null) {
					Handler action = actionOf(handler, annotation.value());
					checkPair(handler, cancel, action, Objects.requireNonNull(this.annotated.get(action)));
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
	 * A source of keys that the application does not support.
	 */
	private record RejectedSource(KeySource source, String mistake, String action) {

		void reject(Handler handler, IdempotentOperation operation) {
			if (operation.keyExpression() == null && operation.keySource() == this.source) {
				throw OperationSettings.mistake(handler.describe(), this.mistake, this.action, null);
			}
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
