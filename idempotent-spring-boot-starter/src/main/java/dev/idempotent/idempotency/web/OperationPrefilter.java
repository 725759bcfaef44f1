package dev.idempotent.idempotency.web;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

import dev.idempotent.idempotency.web.RequiredKeyOperations.Rule;
import jakarta.servlet.http.HttpServletRequest;
import org.jspecify.annotations.Nullable;
import org.springframework.util.StringUtils;
import org.springframework.web.bind.annotation.RequestMethod;
import org.springframework.web.servlet.mvc.condition.PathPatternsRequestCondition;
import org.springframework.web.servlet.mvc.method.RequestMappingInfo;
import org.springframework.web.util.ServletRequestPathUtils;

/**
 * Rules out requests that are of no operation, by their method and raw URL only, so that
 * most requests of an application cost nothing more. Includes each request that it cannot
 * rule out.
 */
final class OperationPrefilter {

	private static final int UNKNOWN = -1;

	private final Map<String, PathTree> pathsByMethod = new HashMap<>();

	/**
	 * The paths of mappings without a method.
	 */
	private @Nullable PathTree pathsOfAllMethods;

	OperationPrefilter(List<RequestMappingInfo> mappings, List<Rule> rules) {
		mappings.forEach(this::add);
		rules.forEach((rule) -> pathsOf(rule.method()).add(rule.path()));
	}

	private void add(RequestMappingInfo mapping) {
		Set<RequestMethod> methods = mapping.getMethodsCondition().getMethods();
		if (methods.isEmpty()) {
			this.pathsOfAllMethods = (this.pathsOfAllMethods != null) ? this.pathsOfAllMethods : new PathTree();
			addTo(this.pathsOfAllMethods, mapping);
		}
		for (RequestMethod method : methods) {
			addTo(pathsOf(method.name()), mapping);
			if (method == RequestMethod.GET) {
				addTo(pathsOf(RequestMethod.HEAD.name()), mapping);
			}
		}
	}

	private PathTree pathsOf(String method) {
		return this.pathsByMethod.computeIfAbsent(method, (name) -> new PathTree());
	}

	private static void addTo(PathTree paths, RequestMappingInfo mapping) {
		PathPatternsRequestCondition patterns = mapping.getPathPatternsCondition();
		if (patterns == null) {
			paths.addAll();
		}
		else {
			patterns.getPatterns().forEach(paths::add);
		}
	}

	/**
	 * Returns whether a request may be of an operation.
	 * @return {@code false} only if it is of none
	 */
	boolean mayMatch(HttpServletRequest request) {
		PathTree paths = this.pathsByMethod.get(request.getMethod());
		if (paths == null && this.pathsOfAllMethods == null) {
			return false;
		}
		String url = request.getRequestURI();
		int start = PathTree.isPlain(url) ? startOfPath(request, url) : UNKNOWN;
		return start == UNKNOWN || (paths != null && paths.mayMatch(url, start))
				|| (this.pathsOfAllMethods != null && this.pathsOfAllMethods.mayMatch(url, start));
	}

	/**
	 * Finds where the path within the application starts, which is behind the prefixes of
	 * the context and of the servlet.
	 */
	private static int startOfPath(HttpServletRequest request, String url) {
		String context = request.getContextPath();
		String servlet = ServletRequestPathUtils.getServletPathPrefix(request);
		String prefix = StringUtils.hasLength(servlet) ? context + servlet : context;
		int start = prefix.length();
		boolean complete = !prefix.endsWith("/") && (start == url.length() || url.startsWith("/", start));
		return (complete && url.startsWith(prefix)) ? start : UNKNOWN;
	}

}
