package dev.idempotent.idempotency.web;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.core.Ordered;
import org.springframework.http.HttpStatus;
import org.springframework.mock.web.MockHttpServletRequest;
import org.springframework.mock.web.MockHttpServletResponse;
import org.springframework.web.context.support.StaticWebApplicationContext;
import org.springframework.web.servlet.DispatcherServlet;
import org.springframework.web.servlet.HandlerExceptionResolver;
import org.springframework.web.servlet.ModelAndView;
import org.springframework.web.servlet.View;
import org.springframework.web.servlet.ViewResolver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Tests for {@link ViewFailureResolver}.
 */
class ViewFailureResolverTests {

	private final Exception failure = new IllegalStateException("The commit has failed");

	private final List<String> asked = new ArrayList<>();

	private final HandlerExceptionResolver observer = new Recording("observer", Integer.MIN_VALUE, null);

	private final ViewFailureResolver resolver = new ViewFailureResolver(this.observer);

	private final StaticWebApplicationContext context = new StaticWebApplicationContext();

	private final MockHttpServletRequest request = new MockHttpServletRequest();

	private final MockHttpServletResponse response = new MockHttpServletResponse();

	@BeforeEach
	void dispatch() {
		this.request.setAttribute(DispatcherServlet.WEB_APPLICATION_CONTEXT_ATTRIBUTE, this.context);
		register(this.observer);
	}

	@Test
	void resolvesNothingOutsideOfADispatcherServlet() {
		register(new Recording("own", 0, new ModelAndView()));
		this.request.removeAttribute(DispatcherServlet.WEB_APPLICATION_CONTEXT_ATTRIBUTE);
		assertThat(resolve()).isNull();
		assertThat(this.asked).isEmpty();
	}

	@Test
	void asksTheResolversInTheirOrderExceptForTheObserver() {
		register(new Recording("third", 3, new ModelAndView()));
		register(new Recording("second", 2, new ModelAndView()));
		register(new Recording("first", 1, null));
		assertThat(resolve()).isNotNull();
		assertThat(this.asked).containsExactly("first", "second");
	}

	@Test
	void resolvesNothingThatNoResolverKnows() {
		register(new Recording("own", 0, null));
		assertThat(resolve()).isNull();
	}

	@Test
	void rendersTheViewOfTheAnswer() throws IOException {
		register(new Recording("own", 0, new ModelAndView("overdrawn", Map.of("name", "ada"), HttpStatus.CONFLICT)));
		ViewResolver views = (name,
				locale) -> (model, viewed, written) -> written.getWriter().write(name + " " + model);
		this.context.getBeanFactory().registerSingleton("views", views);
		assertThat(resolve()).isNotNull().matches(ModelAndView::isEmpty);
		assertThat(this.response.getStatus()).isEqualTo(409);
		assertThat(this.response.getContentAsString()).isEqualTo("overdrawn {name=ada}");
		assertThat(this.request.getAttribute("jakarta.servlet.error.exception")).isNull();
	}

	@Test
	void keepsTheFailureOfTheCommitIfTheViewFails() {
		View broken = (model, viewed, written) -> {
			throw new IOException("The template is missing");
		};
		register(new Recording("own", 0, new ModelAndView(broken)));
		assertThatIllegalStateException().isThrownBy(this::resolve)
			.satisfies((ex) -> assertThat(ex.getCause()).isInstanceOf(IOException.class)
				.hasSuppressedException(this.failure));
	}

	@Test
	void failsIfNoViewResolverKnowsTheView() {
		register(new Recording("own", 0, new ModelAndView("unknown")));
		assertThatIllegalStateException().isThrownBy(this::resolve)
			.havingCause()
			.withMessageContaining("No view resolver knows the view 'unknown'");
	}

	private void register(HandlerExceptionResolver bean) {
		this.context.getBeanFactory().registerSingleton("resolver" + System.identityHashCode(bean), bean);
	}

	private @Nullable ModelAndView resolve() {
		return this.resolver.resolveException(this.request, this.response, null, this.failure);
	}

	private final class Recording implements HandlerExceptionResolver, Ordered {

		private final String name;

		private final int order;

		private final @Nullable ModelAndView answer;

		Recording(String name, int order, @Nullable ModelAndView answer) {
			this.name = name;
			this.order = order;
			this.answer = answer;
		}

		@Override
		public int getOrder() {
			return this.order;
		}

		@Override
		public @Nullable ModelAndView resolveException(HttpServletRequest failed, HttpServletResponse written,
				@Nullable Object handler, Exception ex) {
			ViewFailureResolverTests.this.asked.add(this.name);
			return this.answer;
		}

	}

}
