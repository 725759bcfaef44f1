package dev.idempotent.idempotency.web;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;

import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.core.annotation.AnnotationAwareOrderComparator;
import org.springframework.http.HttpStatusCode;
import org.springframework.web.context.WebApplicationContext;
import org.springframework.web.servlet.DispatcherServlet;
import org.springframework.web.servlet.HandlerExceptionResolver;
import org.springframework.web.servlet.ModelAndView;
import org.springframework.web.servlet.RequestToViewNameTranslator;
import org.springframework.web.servlet.View;
import org.springframework.web.servlet.ViewResolver;
import org.springframework.web.servlet.support.RequestContextUtils;
import org.springframework.web.util.WebUtils;

/**
 * Resolves the failure of a commit that follows the rendering of a view, where Spring MVC
 * would only log it, in the way of the dispatcher servlet: asks all exception resolvers
 * of its context, and renders the view that one of them answers with.
 */
final class ViewFailureResolver implements HandlerExceptionResolver {

	private final HandlerExceptionResolver observer;

	private final Map<WebApplicationContext, List<HandlerExceptionResolver>> resolvers = new ConcurrentHashMap<>();

	/**
	 * Creates a resolver.
	 * @param observer is not asked: it expects failures of handlers
	 */
	ViewFailureResolver(HandlerExceptionResolver observer) {
		this.observer = observer;
	}

	@Override
	public @Nullable ModelAndView resolveException(HttpServletRequest request, HttpServletResponse response,
			@Nullable Object handler, Exception ex) {
		WebApplicationContext context = (WebApplicationContext) request
			.getAttribute(DispatcherServlet.WEB_APPLICATION_CONTEXT_ATTRIBUTE);
		if (context == null) {
			return null;
		}
		for (HandlerExceptionResolver resolver : this.resolvers.computeIfAbsent(context, this::resolversOf)) {
			ModelAndView answer = resolver.resolveException(request, response, handler, ex);
			if (answer != null) {
				return answer.isEmpty() ? answer : render(answer, context, request, response, ex);
			}
		}
		return null;
	}

	private List<HandlerExceptionResolver> resolversOf(WebApplicationContext context) {
		List<HandlerExceptionResolver> found = beans(context, HandlerExceptionResolver.class);
		found.remove(this.observer);
		return found;
	}

	/**
	 * As the dispatcher servlet finds them.
	 */
	private static <T> List<T> beans(WebApplicationContext context, Class<T> type) {
		List<T> found = new ArrayList<>(
				BeanFactoryUtils.beansOfTypeIncludingAncestors(context, type, true, false).values());
		AnnotationAwareOrderComparator.sort(found);
		return found;
	}

	private static ModelAndView render(ModelAndView answer, WebApplicationContext context, HttpServletRequest request,
			HttpServletResponse response, Exception ex) {
		WebUtils.exposeErrorRequestAttributes(request, ex, null);
		try {
			Locale locale = RequestContextUtils.getLocale(request);
			response.setLocale(locale);
			View view = (answer.getView() != null) ? answer.getView() : resolveView(answer, context, request, locale);
			HttpStatusCode status = answer.getStatus();
			if (status != null) {
				request.setAttribute(View.RESPONSE_STATUS_ATTRIBUTE, status);
				response.setStatus(status.value());
			}
			view.render(answer.getModel(), request, response);
			return new ModelAndView();
		}
		catch (Exception failure) {
			failure.addSuppressed(ex);
			throw (failure instanceof RuntimeException unchecked) ? unchecked
					: new IllegalStateException("The view of an exception resolver was not rendered", failure);
		}
		finally {
			WebUtils.clearErrorRequestAttributes(request);
		}
	}

	private static View resolveView(ModelAndView answer, WebApplicationContext context, HttpServletRequest request,
			Locale locale) throws Exception {
		String name = Objects.requireNonNullElseGet(answer.getViewName(), () -> defaultName(context, request));
		for (ViewResolver resolver : beans(context, ViewResolver.class)) {
			View view = resolver.resolveViewName(name, locale);
			if (view != null) {
				return view;
			}
		}
		throw new ServletException("No view resolver knows the view '" + name + "' of an exception resolver");
	}

	private static String defaultName(WebApplicationContext context, HttpServletRequest request) {
		try {
			return Objects.requireNonNull(context
				.getBean(DispatcherServlet.REQUEST_TO_VIEW_NAME_TRANSLATOR_BEAN_NAME, RequestToViewNameTranslator.class)
				.getViewName(request), "The answer of an exception resolver has no view");
		}
		catch (RuntimeException ex) {
			throw ex;
		}
		catch (Exception ex) {
			throw new IllegalStateException("The view of an exception resolver has no name", ex);
		}
	}

}
