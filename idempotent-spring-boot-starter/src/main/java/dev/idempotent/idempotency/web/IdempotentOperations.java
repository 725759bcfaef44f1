package dev.idempotent.idempotency.web;

import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

import dev.idempotent.IdempotentConfigurationException;
import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.idempotency.KeySource;
import dev.idempotent.idempotency.claim.IdempotencyTransactionSource;
import dev.idempotent.idempotency.operation.OperationDefaults;
import dev.idempotent.idempotency.operation.OperationTerms;
import jakarta.servlet.http.HttpServletRequest;
import org.jspecify.annotations.Nullable;
import org.springframework.http.server.PathContainer;
import org.springframework.http.server.RequestPath;
import org.springframework.util.Assert;
import org.springframework.web.bind.annotation.RequestMethod;
import org.springframework.web.cors.CorsConfiguration;
import org.springframework.web.cors.CorsConfigurationSource;
import org.springframework.web.cors.CorsUtils;
import org.springframework.web.method.HandlerMethod;
import org.springframework.web.servlet.HandlerExecutionChain;
import org.springframework.web.servlet.HandlerInterceptor;
import org.springframework.web.servlet.mvc.method.RequestMappingInfo;
import org.springframework.web.servlet.mvc.method.annotation.RequestMappingHandlerMapping;
import org.springframework.web.util.ServletRequestPathUtils;
import org.springframework.web.util.UriTemplate;

/**
 * The annotated handlers of an application, and which of them a request is for. Empty
 * until {@link #load} has been called.
 */
public final class IdempotentOperations {

	private volatile @Nullable Table table;

	/**
	 * Reads the annotations of all handlers that a mapping has.
	 * @param mapping the mapping that requests are dispatched with
	 * @param required rules for handlers without annotation
	 * @param defaults what holds where an annotation leaves it open
	 * @param transactionSource knows the transactions of handlers, or {@code null}
	 * without a database
	 * @return how many handlers are annotated
	 * @throws dev.idempotent.IdempotentConfigurationException if an annotation asks for
	 * what cannot be
	 */
	public int load(RequestMappingHandlerMapping mapping, List<RequiredKeyRule> required, OperationDefaults defaults,
			@Nullable IdempotencyTransactionSource transactionSource) {
		Map<Handler, IdempotentOperation> operations = new HashMap<>();
		Map<Handler, Set<String>> pathVariables = new HashMap<>();
		List<RequestMappingInfo> mappings = new ArrayList<>();
		mapping.getHandlerMethods().forEach((info, handler) -> {
			Idempotent annotation = handler.getMethodAnnotation(Idempotent.class);
			if (annotation != null) {
				mappings.add(info);
				operations.put(Handler.of(handler), IdempotentOperation.of(handler.getBeanType(), handler.getMethod(),
						annotation, defaults, transactionSource));
				pathVariables.computeIfAbsent(Handler.of(handler), (key) -> new TreeSet<>())
					.addAll(pathVariablesOf(info));
			}
		});
		operations.forEach((handler, operation) -> operation.requirePathVariables(
				IdempotentConfigurationException.describe(handler.type(), handler.method()),
				pathVariables.getOrDefault(handler, Set.of())));
		RequiredKeyOperations ruled = new RequiredKeyOperations(required, defaults, transactionSource);
		ruled.check(mapping);
		this.table = new Table(mapping, List.copyOf(mappings), Map.copyOf(operations), ruled);
		return operations.size();
	}

	private static Set<String> pathVariablesOf(RequestMappingInfo info) {
		return info.getPatternValues()
			.stream()
			.flatMap((pattern) -> new UriTemplate(pattern).getVariableNames().stream())
			.map((name) -> name.startsWith("*") ? name.substring(1) : name)
			.collect(Collectors.toSet());
	}

	/**
	 * Checks that no operation takes its key from the fingerprint alone, for applications
	 * that cannot tell callers apart.
	 * @throws dev.idempotent.IdempotentConfigurationException if one does
	 */
	public void requireKeysOfCallers() {
		Table loaded = this.table;
		Assert.state(loaded != null, "The operations must be loaded first");
		loaded.operations().forEach((handler, operation) -> {
			if (operation.key() == null && operation.from() == KeySource.FINGERPRINT) {
				throw OperationTerms.mistake(
						IdempotentConfigurationException.describe(handler.type(), handler.method()),
						"takes its key from the fingerprint, and without Spring Security its callers cannot be told apart: "
								+ "equal requests of two callers would be one",
						"Declare a bean of type IdempotencyScopeResolver, such as new PrincipalScopeResolver((principal) -> "
								+ "null, () -> null) if a filter sets the principal, or add Spring Security.",
						null);
			}
		});
	}

	/**
	 * Finds the operation that a request is for. Requests that match the URL pattern and
	 * method of no annotated handler cost no more than that comparison.
	 */
	@Nullable Target find(HttpServletRequest request) {
		Table loaded = this.table;
		if (loaded == null || loaded.isEmpty() || CorsUtils.isPreFlightRequest(request)) {
			return null;
		}
		boolean parsedBefore = ServletRequestPathUtils.hasParsedRequestPath(request);
		RequestPath parsed = parsedBefore ? ServletRequestPathUtils.getParsedRequestPath(request)
				: ServletRequestPathUtils.parseAndCache(request);
		try {
			PathContainer path = parsed.pathWithinApplication();
			boolean required = loaded.ruled().requireKey(request.getMethod(), path);
			return (required || loaded.mayMatch(request.getMethod(), path)) ? loaded.targetOf(request, required) : null;
		}
		finally {
			if (!parsedBefore) {
				ServletRequestPathUtils.clearParsedRequestPath(request);
			}
		}
	}

	/**
	 * What a request is for.
	 *
	 * @param operation the operation of its handler
	 * @param entryIsNoted whether {@link HandlerRun} learns that the handler was entered
	 * @param cors what other origins may do, if the handler says so
	 */
	record Target(IdempotentOperation operation, boolean entryIsNoted, @Nullable CorsConfiguration cors) {
	}

	private record Table(RequestMappingHandlerMapping mapping, List<RequestMappingInfo> mappings,
			Map<Handler, IdempotentOperation> operations, RequiredKeyOperations ruled) {

		boolean isEmpty() {
			return this.mappings.isEmpty() && this.ruled.isEmpty();
		}

		boolean mayMatch(String method, PathContainer path) {
			for (RequestMappingInfo info : this.mappings) {
				if (matchesMethod(info, method) && matchesPath(info, path)) {
					return true;
				}
			}
			return false;
		}

		@Nullable Target targetOf(HttpServletRequest request, boolean required) {
			HandlerExecutionChain chain = chainOf(request);
			if (chain == null || !(chain.getHandler() instanceof HandlerMethod handler)) {
				return required ? new Target(this.ruled.ofNoMethod(), false, null) : null;
			}
			IdempotentOperation annotated = this.operations.get(Handler.of(handler));
			if (annotated != null) {
				return new Target(annotated, HandlerEntryAdvisor.advises(handler.getBean()), cors(chain, request));
			}
			return required ? new Target(this.ruled.of(handler), false, cors(chain, request)) : null;
		}

		private @Nullable HandlerExecutionChain chainOf(HttpServletRequest request) {
			try {
				return this.mapping.getHandler(request);
			}
			catch (Exception ex) {
				// The dispatcher will meet the same refusal (405, 415, ...).
				return null;
			}
		}

		/**
		 * The mapping hides what it has configured behind an interceptor.
		 */
		private static @Nullable CorsConfiguration cors(HandlerExecutionChain chain, HttpServletRequest request) {
			for (HandlerInterceptor interceptor : chain.getInterceptorList()) {
				if (interceptor instanceof CorsConfigurationSource source) {
					return source.getCorsConfiguration(request);
				}
			}
			return null;
		}

		private static boolean matchesMethod(RequestMappingInfo info, String method) {
			Set<RequestMethod> methods = info.getMethodsCondition().getMethods();
			return methods.isEmpty() || methods.contains(RequestMethod.resolve(method))
					|| (method.equals("HEAD") && methods.contains(RequestMethod.GET));
		}

		private static boolean matchesPath(RequestMappingInfo info, PathContainer path) {
			var patterns = info.getPathPatternsCondition();
			return patterns == null || patterns.getPatterns().stream().anyMatch((pattern) -> pattern.matches(path));
		}

	}

	private record Handler(Class<?> type, Method method) {

		static Handler of(HandlerMethod handler) {
			return new Handler(handler.getBeanType(), handler.getMethod());
		}

	}

}
