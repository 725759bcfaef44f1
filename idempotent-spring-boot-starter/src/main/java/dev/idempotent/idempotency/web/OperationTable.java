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
import dev.idempotent.idempotency.claim.IdempotencyTransactionSource;
import dev.idempotent.idempotency.operation.OperationSettings;
import jakarta.servlet.http.HttpServletRequest;
import org.jspecify.annotations.Nullable;
import org.springframework.http.server.PathContainer;
import org.springframework.web.bind.annotation.RequestMethod;
import org.springframework.web.cors.CorsConfiguration;
import org.springframework.web.cors.CorsConfigurationSource;
import org.springframework.web.method.HandlerMethod;
import org.springframework.web.servlet.HandlerExecutionChain;
import org.springframework.web.servlet.HandlerInterceptor;
import org.springframework.web.servlet.mvc.condition.PathPatternsRequestCondition;
import org.springframework.web.servlet.mvc.method.RequestMappingInfo;
import org.springframework.web.servlet.mvc.method.annotation.RequestMappingHandlerMapping;
import org.springframework.web.util.UriTemplate;
import org.springframework.web.util.pattern.PathPattern;

/**
 * The operations of all mappings: those of its annotated handlers, and those that need a
 * key by configuration.
 *
 * @param mappings the mappings that requests are dispatched with, in their order
 * @param patterns the mappings of the annotated handlers
 * @param annotated the operations of the annotated handlers
 * @param pairs the annotated handlers that cancel others
 * @param required the operations that need a key by configuration
 * @param prefilter rules out requests of no operation
 */
record OperationTable(List<RequestMappingHandlerMapping> mappings, List<RequestMappingInfo> patterns,
		Map<Handler, IdempotentOperation> annotated, CancelPairs pairs, RequiredKeyOperations required,
		OperationPrefilter prefilter) {

	/**
	 * Reads the annotations of all handlers.
	 * @throws dev.idempotent.IdempotentConfigurationException if an annotation cannot be
	 * applied to its handler
	 */
	static OperationTable load(List<RequestMappingHandlerMapping> mappings, RequiredKeyOperations required,
			OperationSettings defaults, @Nullable IdempotencyTransactionSource transactionSource,
			ResponsePolicy policy) {
		Map<Handler, IdempotentOperation> annotated = new HashMap<>();
		Map<Handler, Set<String>> pathVariables = new HashMap<>();
		List<RequestMappingInfo> patterns = new ArrayList<>();
		mappings.forEach((mapping) -> mapping.getHandlerMethods().forEach((pattern, handler) -> {
			Idempotent annotation = handler.getMethodAnnotation(Idempotent.class);
			if (annotation != null) {
				patterns.add(pattern);
				annotated.put(Handler.of(handler), IdempotentOperation.of(handler.getBeanType(), handler.getMethod(),
						annotation, defaults, transactionSource));
				pathVariables.computeIfAbsent(Handler.of(handler), (key) -> new TreeSet<>())
					.addAll(pathVariablesOf(pattern));
			}
		}));
		annotated.forEach((handler, operation) -> operation.requirePathVariables(
				IdempotentConfigurationException.describe(handler.type(), handler.method()),
				pathVariables.getOrDefault(handler, Set.of())));
		RequiredKeyOperations matching = required.matchedAs(mappings);
		mappings.forEach(matching::check);
		return new OperationTable(mappings, List.copyOf(patterns), Map.copyOf(annotated),
				CancelPairs.of(annotated, policy), matching, new OperationPrefilter(patterns, matching.rules()));
	}

	private static Set<String> pathVariablesOf(RequestMappingInfo pattern) {
		return pattern.getPatternValues()
			.stream()
			.flatMap((value) -> new UriTemplate(value).getVariableNames().stream())
			.map((name) -> name.startsWith("*") ? name.substring(1) : name)
			.collect(Collectors.toSet());
	}

	/**
	 * Finds the operation of a request that the prefilter includes, or {@code null}.
	 */
	@Nullable Target find(HttpServletRequest request, PathContainer path) {
		boolean keyRequired = this.required.requireKey(request.getMethod(), path);
		if (!keyRequired && !mayBeAnnotated(request.getMethod(), path)) {
			return null;
		}
		HandlerExecutionChain chain = chainOf(request);
		if (chain == null || !(chain.getHandler() instanceof HandlerMethod handler)) {
			return keyRequired ? Target.ofRule(this.required.ofOtherHandler(), null, null) : null;
		}
		Handler found = Handler.of(handler);
		IdempotentOperation operation = this.annotated.get(found);
		if (operation != null) {
			return new Target(operation, found, cors(chain, request), this.pairs.actions().get(found),
					this.pairs.members().contains(found));
		}
		return keyRequired ? Target.ofRule(this.required.of(handler), found, cors(chain, request)) : null;
	}

	/**
	 * Finds the operation of a mapping, or {@code null}.
	 * @param handler its handler, or {@code null} for one that is not a method
	 * @param method its HTTP method
	 * @param pattern its path pattern
	 */
	@Nullable Target find(@Nullable HandlerMethod handler, RequestMethod method, PathContainer pattern) {
		Handler found = (handler != null) ? Handler.of(handler) : null;
		IdempotentOperation operation = (found != null) ? this.annotated.get(found) : null;
		if (found != null && operation != null) {
			return new Target(operation, found, null, this.pairs.actions().get(found),
					this.pairs.members().contains(found));
		}
		if (!this.required.mayRequireKey(Set.of(method), pattern)) {
			return null;
		}
		return Target.ofRule((handler != null) ? this.required.of(handler) : this.required.ofOtherHandler(), found,
				null);
	}

	private boolean mayBeAnnotated(String method, PathContainer path) {
		for (RequestMappingInfo pattern : this.patterns) {
			if (matchesMethod(pattern, method) && matchesPath(pattern, path)) {
				return true;
			}
		}
		return false;
	}

	private @Nullable HandlerExecutionChain chainOf(HttpServletRequest request) {
		try {
			for (RequestMappingHandlerMapping mapping : this.mappings) {
				HandlerExecutionChain chain = mapping.getHandler(request);
				if (chain != null) {
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

	private static boolean matchesMethod(RequestMappingInfo pattern, String method) {
		Set<RequestMethod> methods = pattern.getMethodsCondition().getMethods();
		return methods.isEmpty() || methods.contains(RequestMethod.resolve(method))
				|| (method.equals("HEAD") && methods.contains(RequestMethod.GET));
	}

	private static boolean matchesPath(RequestMappingInfo pattern, PathContainer path) {
		PathPatternsRequestCondition patterns = pattern.getPathPatternsCondition();
		if (patterns == null) {
			return true;
		}
		for (PathPattern candidate : patterns.getPatterns()) {
			if (candidate.matches(path)) {
				return true;
			}
		}
		return false;
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

		static Target ofRule(IdempotentOperation operation, @Nullable Handler handler,
				@Nullable CorsConfiguration cors) {
			return new Target(operation, handler, cors, null, false);
		}

	}

	/**
	 * A handler method.
	 *
	 * @param type the class of the bean
	 * @param method its method
	 */
	record Handler(Class<?> type, Method method) {

		static Handler of(HandlerMethod handler) {
			return new Handler(handler.getBeanType(), handler.getMethod());
		}

	}

}
