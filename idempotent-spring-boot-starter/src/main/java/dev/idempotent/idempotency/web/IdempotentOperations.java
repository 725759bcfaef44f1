package dev.idempotent.idempotency.web;

import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

import dev.idempotent.idempotency.Idempotent;
import jakarta.servlet.http.HttpServletRequest;
import org.jspecify.annotations.Nullable;

import org.springframework.http.server.RequestPath;
import org.springframework.web.bind.annotation.RequestMethod;
import org.springframework.web.cors.CorsUtils;
import org.springframework.web.method.HandlerMethod;
import org.springframework.web.servlet.HandlerExecutionChain;
import org.springframework.web.servlet.mvc.method.RequestMappingInfo;
import org.springframework.web.servlet.mvc.method.annotation.RequestMappingHandlerMapping;
import org.springframework.web.util.ServletRequestPathUtils;

/**
 * The annotated handlers of an application, and which of them a request is for. Empty
 * until {@link #load} has been called.
 */
public final class IdempotentOperations {

	private volatile @Nullable Table table;

	/**
	 * Reads the annotations of all handlers that a mapping has.
	 * @param mapping the mapping that requests are dispatched with
	 * @param defaults what holds where an annotation leaves it open
	 * @return how many handlers are annotated
	 * @throws dev.idempotent.idempotency.IdempotencyConfigurationException if an
	 * annotation asks for what cannot be
	 */
	public int load(RequestMappingHandlerMapping mapping, OperationDefaults defaults) {
		Map<Handler, IdempotentOperation> operations = new HashMap<>();
		List<RequestMappingInfo> mappings = new ArrayList<>();
		mapping.getHandlerMethods().forEach((info, handler) -> {
			Idempotent annotation = handler.getMethodAnnotation(Idempotent.class);
			if (annotation != null) {
				mappings.add(info);
				operations.put(Handler.of(handler),
						IdempotentOperation.of(handler.getBeanType(), handler.getMethod(), annotation, defaults));
			}
		});
		this.table = new Table(mapping, List.copyOf(mappings), Map.copyOf(operations));
		return operations.size();
	}

	/**
	 * Finds the operation that a request is for. Requests that match the URL pattern and
	 * method of no annotated handler cost no more than that comparison.
	 */
	@Nullable Target find(HttpServletRequest request) {
		Table loaded = this.table;
		if (loaded == null || loaded.mappings.isEmpty() || CorsUtils.isPreFlightRequest(request)) {
			return null;
		}
		boolean parsedBefore = ServletRequestPathUtils.hasParsedRequestPath(request);
		RequestPath path = parsedBefore ? ServletRequestPathUtils.getParsedRequestPath(request)
				: ServletRequestPathUtils.parseAndCache(request);
		try {
			return loaded.mayMatch(request.getMethod(), path) ? loaded.targetOf(request) : null;
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
	 * @param operation the operation of its handler method
	 * @param entryIsNoted whether {@link Exchange} learns that the method was entered
	 */
	record Target(IdempotentOperation operation, boolean entryIsNoted) {
	}

	private record Table(RequestMappingHandlerMapping mapping, List<RequestMappingInfo> mappings,
			Map<Handler, IdempotentOperation> operations) {

		boolean mayMatch(String method, RequestPath path) {
			for (RequestMappingInfo info : this.mappings) {
				if (matchesMethod(info, method) && matchesPath(info, path)) {
					return true;
				}
			}
			return false;
		}

		private static boolean matchesMethod(RequestMappingInfo info, String method) {
			Set<RequestMethod> methods = info.getMethodsCondition().getMethods();
			return methods.isEmpty() || methods.contains(RequestMethod.resolve(method));
		}

		private static boolean matchesPath(RequestMappingInfo info, RequestPath path) {
			var patterns = info.getPathPatternsCondition();
			return patterns == null || patterns.getPatterns()
				.stream()
				.anyMatch((pattern) -> pattern.matches(path.pathWithinApplication()));
		}

		@Nullable Target targetOf(HttpServletRequest request) {
			HandlerExecutionChain chain;
			try {
				chain = this.mapping.getHandler(request);
			}
			catch (Exception ex) {
				// The dispatcher will meet the same refusal (405, 415, ...) and answer
				// it.
				return null;
			}
			if (chain == null || !(chain.getHandler() instanceof HandlerMethod handler)) {
				return null;
			}
			IdempotentOperation operation = this.operations.get(Handler.of(handler));
			return (operation != null) ? new Target(operation, HandlerEntryAdvisor.advises(handler.getBean())) : null;
		}

	}

	private record Handler(Class<?> type, Method method) {

		static Handler of(HandlerMethod handler) {
			return new Handler(handler.getBeanType(), handler.getMethod());
		}

	}

}
