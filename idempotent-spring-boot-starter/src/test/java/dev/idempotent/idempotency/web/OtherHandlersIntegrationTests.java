package dev.idempotent.idempotency.web;

import java.io.IOException;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;

import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.testing.WebApplication;
import jakarta.servlet.AsyncContext;
import jakarta.servlet.ReadListener;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletInputStream;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.BeforeParameterizedClassInvocation;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.web.servlet.ServletRegistrationBean;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.http.ResponseEntity;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.web.HttpRequestHandler;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.context.support.AnnotationConfigWebApplicationContext;
import org.springframework.web.servlet.DispatcherServlet;
import org.springframework.web.servlet.HandlerInterceptor;
import org.springframework.web.servlet.HandlerMapping;
import org.springframework.web.servlet.config.annotation.EnableWebMvc;
import org.springframework.web.servlet.config.annotation.InterceptorRegistry;
import org.springframework.web.servlet.config.annotation.WebMvcConfigurer;
import org.springframework.web.servlet.function.RouterFunction;
import org.springframework.web.servlet.function.RouterFunctions;
import org.springframework.web.servlet.function.ServerRequest;
import org.springframework.web.servlet.function.ServerResponse;
import org.springframework.web.servlet.handler.SimpleUrlHandlerMapping;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Other code that handles a request whose method and path match an annotated handler:
 * what it answers is true.
 */
class OtherHandlersIntegrationTests extends AbstractTomcatAndJettyTests {

	@BeforeParameterizedClassInvocation
	static void start(String container) {
		startWithDatabase(Application.class, container, "idempotent.guarantee=transaction",
				"idempotent.web.required-for=POST /function/**");
	}

	@ParameterizedTest
	@CsvSource({ "/orders/import, 201", "/hooks/payment, 202", "/legacy/orders/1, 201", "/admin/orders/1, 200" })
	void runWithoutAKeyAndKeepTheirWork(String path, int status) {
		int before = rows();
		assertThat(application.post(path, "{}").statusCode()).isEqualTo(status);
		assertThat(post(path).statusCode()).isEqualTo(status);
		HttpResponse<byte[]> again = post(path);
		assertThat(again.statusCode()).isEqualTo(status);
		assertThat(isReplay(again)).isFalse();
		assertThat(rows()).isEqualTo(before + 3);
	}

	@ParameterizedTest
	@ValueSource(strings = { "/orders/1", "/api/orders/1" })
	void leaveTheAnnotatedHandlerItsKey(String path) {
		int before = rows();
		assertThat(application.post(path, "{}").statusCode()).isEqualTo(400);
		assertThat(post(path).statusCode()).isEqualTo(200);
		assertThat(isReplay(post(path))).isTrue();
		assertThat(rows()).isEqualTo(before + 1);
	}

	@ParameterizedTest
	@ValueSource(strings = "/function/orders")
	void runOncePerKeyWhereOneIsRequired(String path) {
		int before = rows();
		assertThat(application.post(path, "{}").statusCode()).isEqualTo(400);
		assertThat(post(path).statusCode()).isEqualTo(201);
		assertThat(isReplay(post(path))).isTrue();
		assertThat(rows()).isEqualTo(before + 1);
	}

	/**
	 * As a gateway's predicate does, they keep what they have read.
	 */
	@Test
	void mayBeSelectedByTheirBody() {
		String path = "/function/by-body";
		assertThat(WebApplication.text(application.post(path, "paid 1", "Idempotency-Key", this.key)))
			.isEqualTo("paid 1");
		assertThat(isReplay(application.post(path, "paid 1", "Idempotency-Key", this.key))).isTrue();
		assertThat(application.post(path, "paid 999", "Idempotency-Key", this.key).statusCode()).isEqualTo(422);
		assertThat(application.post("/orders/by-body", "paid 2").statusCode()).isEqualTo(200);
		assertThat(application.post("/orders/by-body", "other", "Idempotency-Key", this.key + "-2").statusCode())
			.isEqualTo(200);
		assertThat(application.post("/orders/by-body", "x".repeat(3_000_000)).statusCode()).isEqualTo(413);
	}

	@ParameterizedTest
	@ValueSource(strings = { "application/json", "application/x-www-form-urlencoded" })
	void mayBeSelectedByAnyBody(String type) {
		String body = "paid=" + "1".repeat(3_000_000);
		HttpResponse<byte[]> response = application.send(application.request("/orders/by-body?query=1")
			.header("Content-Type", type)
			.POST(BodyPublishers.ofString(body))
			.build());
		assertThat(response.statusCode()).isEqualTo(200);
		assertThat(WebApplication.text(response)).isEqualTo(body);
	}

	/**
	 * A servlet, and a handler behind an interceptor that has opened the body.
	 */
	@ParameterizedTest
	@ValueSource(strings = { "/non-blocking/servlet", "/read/later" })
	void mayReadTheirBodyWithoutBlocking(String path) {
		HttpResponse<byte[]> response = application.post(path, "x".repeat(100_000), "X-Opened", "true");
		assertThat(response.statusCode()).isEqualTo(200);
		assertThat(WebApplication.text(response)).isEqualTo("100000");
	}

	@ParameterizedTest
	@ValueSource(ints = { 200, 202, 302, 404 })
	void areNotReachedIfAnInterceptorAnswers(int status) {
		int before = rows();
		HttpResponse<byte[]> response = post("/orders/1", "X-Intercepted", Integer.toString(status));
		assertThat(response.statusCode()).isEqualTo(status);
		assertThat(isReplay(post("/orders/1", "X-Intercepted", Integer.toString(status)))).isFalse();
		assertThat(rows()).as("work of the interceptor").isEqualTo(before + 2);
		assertThat(post("/orders/1").statusCode()).as("the key is still free").isEqualTo(200);
		assertThat(rows()).isEqualTo(before + 3);
	}

	@ParameterizedTest
	@ValueSource(ints = { 200, 422 })
	void mayAnswerAnExceptionInAnyWay(int status) {
		int before = rows();
		HttpResponse<byte[]> response = post("/orders/1", "X-Failing", Integer.toString(status));
		assertThat(response.statusCode()).isEqualTo(status);
		assertThat(WebApplication.text(response)).isEqualTo("failed");
		assertThat(rows()).isEqualTo(before);
	}

	private static int rows() {
		return application.bean(Work.class).rows();
	}

	/**
	 * Work in the transaction of its caller, if there is one.
	 */
	static class Work {

		private final AtomicInteger next = new AtomicInteger();

		private final JdbcClient jdbc;

		Work(JdbcClient jdbc) {
			this.jdbc = jdbc;
			jdbc.sql("create table done (id integer primary key)").update();
		}

		void run() {
			this.jdbc.sql("insert into done (id) values (?)").param(this.next.incrementAndGet()).update();
		}

		int rows() {
			return this.jdbc.sql("select count(*) from done").query(Integer.class).single();
		}

	}

	@RestController
	static class Orders {

		private final Work work;

		Orders(Work work) {
			this.work = work;
		}

		@Idempotent
		@PostMapping({ "/orders/{id}", "/{group:hooks|api}/{kind}", "/api/orders/{id}" })
		String place(HttpServletRequest request) {
			this.work.run();
			if (request.getHeader("X-Failing") != null) {
				throw new IllegalStateException(request.getHeader("X-Failing"));
			}
			return "placed";
		}

		@PostMapping("/read/later")
		void readLater(HttpServletRequest request) throws IOException {
			NonBlocking.read(request);
		}

		@RequestMapping("/**")
		ResponseEntity<String> none() {
			return ResponseEntity.status(404).body("none");
		}

		@ExceptionHandler
		ResponseEntity<String> answer(IllegalStateException ex) {
			return ResponseEntity.status(Integer.parseInt(ex.getMessage())).body("failed");
		}

	}

	/**
	 * Does work and answers, if a request asks it to.
	 */
	record Interceptor(Work work) implements HandlerInterceptor {

		@Override
		public boolean preHandle(HttpServletRequest request, HttpServletResponse response, Object handler)
				throws IOException {
			if (request.getHeader("X-Opened") != null) {
				request.getInputStream();
			}
			String status = request.getHeader("X-Intercepted");
			if (status == null) {
				return true;
			}
			this.work.run();
			response.setStatus(Integer.parseInt(status));
			return false;
		}

	}

	/**
	 * Counts the bytes of a body without blocking a thread.
	 */
	@SuppressWarnings("serial")
	static final class NonBlocking extends HttpServlet {

		@Override
		protected void doPost(HttpServletRequest request, HttpServletResponse response) throws IOException {
			read(request);
		}

		static void read(HttpServletRequest request) throws IOException {
			AsyncContext context = request.startAsync();
			ServletInputStream body = request.getInputStream();
			body.setReadListener(new ReadListener() {

				private final byte[] buffer = new byte[1000];

				private int length;

				@Override
				public void onDataAvailable() throws IOException {
					while (body.isReady() && !body.isFinished()) {
						this.length += Math.max(0, body.read(this.buffer));
					}
				}

				@Override
				public void onAllDataRead() throws IOException {
					context.getResponse().getWriter().print(this.length);
					context.complete();
				}

				@Override
				public void onError(Throwable failure) {
					context.complete();
				}

			});
		}

	}

	/**
	 * The context of a second dispatcher servlet.
	 */
	@Configuration(proxyBeanMethods = false)
	@EnableWebMvc
	static class Admin {

		@RestController
		static class AdminOrders {

			private final Work work;

			AdminOrders(Work work) {
				this.work = work;
			}

			@PostMapping("/orders/{id}")
			String place(@PathVariable String id) {
				this.work.run();
				return id;
			}

		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import({ Orders.class, Work.class })
	static class Application {

		@Bean
		WebMvcConfigurer interceptors(Work work) {
			return new WebMvcConfigurer() {

				@Override
				public void addInterceptors(InterceptorRegistry registry) {
					registry.addInterceptor(new Interceptor(work));
				}

			};
		}

		@Bean
		RouterFunction<ServerResponse> functions(Work work) {
			return RouterFunctions.route().POST("/orders/import", (request) -> {
				work.run();
				return ServerResponse.status(201).body("imported");
			}).POST("/function/orders", (request) -> {
				work.run();
				return ServerResponse.status(201).body("placed");
			}).POST("/{group}/by-body", (request) -> textOf(request).startsWith("paid"), (request) -> {
				work.run();
				return ServerResponse.ok().body(textOf(request));
			}).build();
		}

		private static String textOf(ServerRequest request) {
			try {
				String text = (String) request.servletRequest().getAttribute("text");
				if (text == null) {
					text = request.body(String.class);
					request.servletRequest().setAttribute("text", text);
				}
				return text;
			}
			catch (ServletException | IOException ex) {
				throw new IllegalStateException(ex);
			}
		}

		@Bean
		HandlerMapping hooks(Work work) {
			HttpRequestHandler hook = (request, response) -> {
				work.run();
				response.setStatus(202);
			};
			return new SimpleUrlHandlerMapping(Map.of("/hooks/payment", hook), -5);
		}

		@Bean
		ServletRegistrationBean<NonBlocking> nonBlocking() {
			return new ServletRegistrationBean<>(new NonBlocking(), "/non-blocking/*");
		}

		@Bean
		ServletRegistrationBean<HttpServlet> legacy(Work work) {
			return new ServletRegistrationBean<>(new HttpServlet() {

				@Override
				protected void doPost(HttpServletRequest request, HttpServletResponse response) throws IOException {
					work.run();
					response.setStatus(201);
					response.getWriter().print("done");
				}

			}, "/legacy/*");
		}

		@Bean
		ServletRegistrationBean<DispatcherServlet> admin(ApplicationContext parent) {
			AnnotationConfigWebApplicationContext own = new AnnotationConfigWebApplicationContext();
			own.setParent(parent);
			own.register(Admin.class, Admin.AdminOrders.class);
			ServletRegistrationBean<DispatcherServlet> registration = new ServletRegistrationBean<>(
					new DispatcherServlet(own), "/admin/*");
			registration.setName("admin-" + UUID.randomUUID());
			return registration;
		}

	}

}
