package dev.idempotent.idempotency.method;

import java.io.IOException;
import java.io.InputStream;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

import javax.tools.ToolProvider;

import dev.idempotent.IdempotentConfigurationException;
import dev.idempotent.autoconfigure.idempotency.IdempotencyAutoConfiguration;
import dev.idempotent.autoconfigure.idempotency.ImportMethods;
import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.IdempotencyStore;
import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.test.InMemoryIdempotencyStore;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.ComponentScan.Filter;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.FilterType;
import org.springframework.core.PriorityOrdered;
import org.springframework.data.annotation.Id;
import org.springframework.data.domain.Page;
import org.springframework.data.map.repository.config.EnableMapRepositories;
import org.springframework.data.repository.Repository;
import org.springframework.data.repository.RepositoryDefinition;
import org.springframework.http.ResponseEntity;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.arguments;

/**
 * Invalid annotations stop the application; the report names the method and what to do.
 */
class MethodMistakesTests {

	private static final String ANOTHER_BEAN = "a method of another bean";

	static Stream<Arguments> invalid() {
		return Stream.concat(unreachable(), misstated());
	}

	private static Stream<Arguments> unreachable() {
		return Stream.of(arguments(InvalidMethods.FinalMethod.class, "is final", ANOTHER_BEAN),
				arguments(InvalidMethods.FinalClass.class, "belongs to a final class", ANOTHER_BEAN),
				arguments(InvalidMethods.OnlyOne.class, "belongs to a final class", ANOTHER_BEAN),
				arguments(InvalidMethods.PrivateMethod.class, "is private or static", ANOTHER_BEAN),
				arguments(InvalidMethods.MethodOfAnotherPackage.class,
						"is package-private, and the class of its bean is in another package", ANOTHER_BEAN),
				arguments(InvalidMethods.StaticMethod.class, "is private or static", ANOTHER_BEAN));
	}

	private static Stream<Arguments> misstated() {
		return Stream.of(arguments(InvalidMethods.NoKey.class, "has no key", "key = \"#event.id\""),
				arguments(InvalidMethods.TokenWithKey.class, "one-time token, and is not a web handler",
						"without from = KeySource.TOKEN"),
				arguments(InvalidMethods.TokenOnListener.class, "one-time token, and is not a web handler",
						"Move the annotation to the web handler"),
				arguments(InvalidMethods.IncludesHeader.class, "includes headers of requests, and is not a web handler",
						"all arguments are compared"),
				arguments(InvalidMethods.ChangeableKey.class,
						"has the key '#id', whose values cannot be told apart: InvalidMethods$ChangeableId has fields that "
								+ "are not final",
						"such as #id.value"),
				arguments(InvalidMethods.ChangeableMemberOfAKey.class,
						"the member 'ids' of InvalidMethods$Batch: InvalidMethods$ChangeableId has fields",
						"such as #batches.value"),
				arguments(InvalidMethods.UnknownVariable.class, "no variable #order, only #id", "SpEL"),
				arguments(InvalidMethods.Malformed.class, "key expression '#id['", "SpEL"),
				arguments(InvalidMethods.UnknownIgnored.class, "no parameter 'sentAt', only [id]",
						"names of parameters"),
				arguments(InvalidMethods.UnknownIgnoredMember.class, "no parameter 'event', only [id]",
						"names of parameters"),
				arguments(InvalidMethods.ShortRetention.class, "shorter than its lease", "at least as long"),
				arguments(InvalidMethods.NoDuration.class, "lease 'soon'", "30s"),
				arguments(InvalidResults.OneMono.class, "cannot be replayed", "Return a value"),
				arguments(InvalidResults.ManyFlux.class, "cannot be replayed", "Return a value"),
				arguments(InvalidResults.OneStream.class, "cannot be replayed", "Return a value"),
				arguments(InvalidResults.OneInputStream.class, "cannot be replayed", "Return a value"),
				arguments(InvalidResults.OneIterator.class, "cannot be replayed", "Return a value"),
				arguments(InvalidResults.OneFuture.class, "cannot be replayed", "CompletableFuture"),
				arguments(InvalidResults.AnyObject.class, "returns java.lang.Object, which a retry could not get",
						"Return a type of your own"),
				arguments(InvalidResults.OnePage.class, "cannot be read from JSON", "the content of a page"),
				arguments(InvalidResults.OneResponseEntity.class, "cannot be read from JSON", "the body of a response"),
				arguments(InvalidResults.SealedWithoutTypes.class, "cannot be read from JSON", "@JsonTypeInfo"),
				arguments(InvalidResults.OneCounter.class,
						"cannot be compared with what a retry would get: the member 'count' of MethodMistakesTests$InvalidResults$Counted",
						"such as a record"),
				arguments(InvalidResults.LaterCounter.class,
						"the member 'count' of MethodMistakesTests$InvalidResults$Counted", "CanonicalForm"),
				arguments(InvalidResults.FutureInTransaction.class, "returns a future", "Guarantee.LEASE"),
				arguments(InvalidResults.ReadOnly.class, "readOnly = true", "Guarantee.LEASE"),
				arguments(InvalidResults.NotSupported.class, "(propagation)", "Guarantee.LEASE"),
				arguments(InvalidResults.Never.class, "(propagation)", "Guarantee.LEASE"));
	}

	@ParameterizedTest
	@MethodSource("invalid")
	void refusesAnInvalidMethod(Class<?> bean, String mistake, String action) {
		assertStops(MethodApplication.with(bean), bean, mistake, action);
	}

	@Test
	void refusesARecord() {
		assertStops(
				MethodApplication.with()
					.withBean(InvalidMethods.OneRecord.class, () -> new InvalidMethods.OneRecord("record")),
				InvalidMethods.OneRecord.class, "belongs to a final class", ANOTHER_BEAN);
	}

	@Test
	void refusesAMethodOutsideTheInterfacesOfAnInterfaceProxy() {
		assertStops(
				MethodApplication.with(InvalidMethods.BesideItsInterface.class)
					.withPropertyValues("spring.aop.proxy-target-class=false"),
				InvalidMethods.BesideItsInterface.class, "is not declared by an interface of its bean", ANOTHER_BEAN);
	}

	@Test
	void refusesAMethodBehindAProxyOfTheApplication() {
		assertStops(
				MethodApplication.with()
					.withBean(InvalidMethods.Greeter.class,
							() -> (InvalidMethods.Greeter) new ProxyFactory(new InvalidMethods.BesideItsInterface())
								.getProxy()),
				InvalidMethods.BesideItsInterface.class, "is not declared by an interface of its bean", ANOTHER_BEAN);
	}

	@Test
	void refusesALambda() {
		assertStops(
				MethodApplication.with()
					.withBean("placing", InvalidMethods.Placing.class, () -> (InvalidMethods.Placing) (id) -> id),
				MethodMistakesTests.class, "belongs to a lambda", ANOTHER_BEAN);
	}

	@ParameterizedTest
	@ValueSource(classes = { Repositories.Derived.class, Repositories.Defined.class })
	void refusesARepository(Class<?> repositories) {
		assertStops(MethodApplication.with(repositories), repositories.getDeclaredClasses()[0],
				"belongs to a Spring Data repository", ANOTHER_BEAN);
	}

	@Test
	void refusesABeanThatAPostProcessorDependsOn() {
		assertStops(MethodApplication.with(InvalidMethods.Plain.class, Needy.class), InvalidMethods.Plain.class,
				"was created too early", ANOTHER_BEAN);
	}

	@Test
	void refusesTransactionsInAspectJMode() {
		assertStops(MethodApplication.with(InvalidMethods.Plain.class)
			.withBean("org.springframework.transaction.config.internalTransactionAspect", Object.class, Object::new),
				InvalidMethods.Plain.class, "AspectJ mode", ANOTHER_BEAN);
	}

	@Test
	void refusesATransactionWithoutADatabase() {
		ApplicationContextRunner application = new ApplicationContextRunner()
			.withPropertyValues("idempotent.namespace=shop")
			.withConfiguration(AutoConfigurations.of(AopAutoConfiguration.class, IdempotencyAutoConfiguration.class,
					ImportMethods.CLASS))
			.withBean(IdempotencyStore.class, () -> new InMemoryIdempotencyStore(InstantSource.system()));
		assertStops(application.withUserConfiguration(InvalidResults.InTransaction.class),
				InvalidResults.InTransaction.class, "no DataSource", "spring-boot-starter-jdbc");
		application.withUserConfiguration(InvalidMethods.Plain.class)
			.run((context) -> assertThat(context).hasNotFailed());
	}

	@Test
	void refusesAClassCompiledWithoutParameterNames(@TempDir Path folder) throws Exception {
		try (URLClassLoader loader = new URLClassLoader(new URL[] { compile(folder).toUri().toURL() },
				getClass().getClassLoader())) {
			Class<?> nameless = loader.loadClass("Nameless");
			assertStops(MethodApplication.with(nameless).withClassLoader(loader), nameless,
					"was compiled without the names of its parameters", "-parameters");
		}
	}

	private static Path compile(Path folder) throws IOException {
		Path source = folder.resolve("Nameless.java");
		Files.writeString(source, """
				public class Nameless {
					@%s(key = "#id", name = "place") public String place(String id) { return id; }
				}
				""".formatted(Idempotent.class.getName()));
		assertThat(ToolProvider.getSystemJavaCompiler()
			.run(null, null, null, "-g:none", "-proc:none", "-cp", System.getProperty("java.class.path"), "-d",
					folder.toString(), source.toString()))
			.isZero();
		return folder;
	}

	private static void assertStops(ApplicationContextRunner application, Class<?> bean, String mistake,
			String action) {
		application.run((context) -> {
			Throwable failure = context.getStartupFailure();
			while (failure != null && !(failure instanceof IdempotentConfigurationException)) {
				failure = failure.getCause();
			}
			assertThat(failure).as("startup failure %s", context.getStartupFailure())
				.isInstanceOfSatisfying(IdempotentConfigurationException.class, (found) -> {
					assertThat(found).hasMessageContaining(bean.getName())
						.hasMessageContaining(".place")
						.hasMessageContaining(mistake);
					assertThat(found.getAction()).contains(action);
				});
		});
	}

	@Configuration(proxyBeanMethods = false)
	static class Needy {

		@Bean
		static EarlyPostProcessor needy(InvalidMethods.Plain needed) {
			return new EarlyPostProcessor(needed);
		}

	}

	record EarlyPostProcessor(InvalidMethods.Plain needed) implements BeanPostProcessor, PriorityOrdered {

		@Override
		public int getOrder() {
			return 0;
		}

	}

	/**
	 * Applications with an annotated repository, which cannot be idempotent.
	 */
	static final class Repositories {

		private Repositories() {
		}

		@Configuration(proxyBeanMethods = false)
		@EnableMapRepositories(considerNestedRepositories = true,
				includeFilters = @Filter(type = FilterType.ASSIGNABLE_TYPE, classes = Derived.Orders.class))
		static class Derived {

			interface Orders extends Repository<Repositories.Order, String> {

				@Idempotent(key = "#id", name = "orders.place")
				default String place(String id) {
					return id;
				}

			}

		}

		@Configuration(proxyBeanMethods = false)
		@EnableMapRepositories(considerNestedRepositories = true,
				includeFilters = @Filter(type = FilterType.ASSIGNABLE_TYPE, classes = Defined.Orders.class))
		static class Defined {

			@RepositoryDefinition(domainClass = Repositories.Order.class, idClass = String.class)
			interface Orders {

				@Idempotent(key = "#id", name = "defined-orders.place")
				default String place(String id) {
					return id;
				}

			}

		}

		record Order(@Id String id) {
		}

	}

	/**
	 * Beans whose one annotated method, always {@code place}, has an unsupported result
	 * or transaction.
	 */
	static final class InvalidResults {

		private InvalidResults() {
		}

		static class OneMono {

			@Idempotent(key = "#id", name = "one-mono.place")
			public Mono<String> place(String id) {
				return Mono.just(id);
			}

		}

		static class ManyFlux {

			@Idempotent(key = "#id", name = "many-flux.place")
			public Flux<String> place(String id) {
				return Flux.just(id);
			}

		}

		static class OneStream {

			@Idempotent(key = "#id", name = "one-stream.place")
			public Stream<String> place(String id) {
				return Stream.of(id);
			}

		}

		static class OneInputStream {

			@Idempotent(key = "#id", name = "one-input-stream.place")
			public InputStream place(String id) {
				return InputStream.nullInputStream();
			}

		}

		static class OneIterator {

			@Idempotent(key = "#id", name = "one-iterator.place")
			public Iterator<String> place(String id) {
				return List.of(id).iterator();
			}

		}

		static class OneFuture {

			@Idempotent(key = "#id", name = "one-future.place")
			public Future<String> place(String id) {
				return CompletableFuture.completedFuture(id);
			}

		}

		static class AnyObject {

			@Idempotent(key = "#id", name = "place")
			public Object place(String id) {
				return id;
			}

		}

		static class OnePage {

			@Idempotent(key = "#id", name = "place")
			public Page<String> place(String id) {
				return Page.empty();
			}

		}

		static class OneResponseEntity {

			@Idempotent(key = "#id", name = "place")
			public ResponseEntity<String> place(String id) {
				return ResponseEntity.ok(id);
			}

		}

		sealed interface Payment permits ByCard {

		}

		record ByCard(String number) implements Payment {
		}

		static class SealedWithoutTypes {

			@Idempotent(key = "#id", name = "place")
			public List<Payment> place(String id) {
				return List.of(new ByCard(id));
			}

		}

		record Counted(String id, AtomicInteger count) {
		}

		static class OneCounter {

			@Idempotent(key = "#id", name = "place")
			public List<Counted> place(String id) {
				return List.of(new Counted(id, new AtomicInteger(1)));
			}

		}

		static class LaterCounter {

			@Idempotent(key = "#id", name = "place")
			public CompletableFuture<Counted> place(String id) {
				return CompletableFuture.completedFuture(new Counted(id, new AtomicInteger(1)));
			}

		}

		static class FutureInTransaction {

			@Idempotent(key = "#id", guarantee = Guarantee.TRANSACTION, name = "future-in-transaction.place")
			public CompletableFuture<String> place(String id) {
				return CompletableFuture.completedFuture(id);
			}

		}

		static class ReadOnly {

			@Transactional(readOnly = true)
			@Idempotent(key = "#id", guarantee = Guarantee.TRANSACTION, name = "read-only.place")
			public String place(String id) {
				return id;
			}

		}

		static class NotSupported {

			@Transactional(propagation = Propagation.NOT_SUPPORTED)
			@Idempotent(key = "#id", guarantee = Guarantee.TRANSACTION, name = "not-supported.place")
			public String place(String id) {
				return id;
			}

		}

		static class Never {

			@Transactional(propagation = Propagation.NEVER)
			@Idempotent(key = "#id", guarantee = Guarantee.TRANSACTION, name = "never.place")
			public String place(String id) {
				return id;
			}

		}

		static class InTransaction {

			@Idempotent(key = "#id", guarantee = Guarantee.TRANSACTION, name = "in-transaction.place")
			public String place(String id) {
				return id;
			}

		}

	}

}
