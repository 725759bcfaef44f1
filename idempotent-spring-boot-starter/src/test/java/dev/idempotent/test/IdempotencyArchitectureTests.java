package dev.idempotent.test;

import java.net.http.HttpClient;
import java.util.List;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.lang.ArchRule;
import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.idempotency.KeySource;
import dev.idempotent.outbox.TransactionalOutbox;
import dev.idempotent.saga.Saga;
import dev.idempotent.saga.SagaSteps;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.tool.annotation.Tool;
import org.springframework.ai.tool.method.MethodToolCallbackProvider;
import org.springframework.web.client.RestClient;
import org.springframework.web.client.RestTemplate;

import static dev.idempotent.test.IdempotencyArchitecture.ANNOTATED_METHODS_ARE_CALLED_THROUGH_THEIR_PROXY;
import static dev.idempotent.test.IdempotencyArchitecture.IDEMPOTENT_TOOLS_ARE_BEANS;
import static dev.idempotent.test.IdempotencyArchitecture.SAGAS_USE_HTTP_CLIENTS_OF_SPRING_BOOT;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link IdempotencyArchitecture}.
 */
class IdempotencyArchitectureTests {

	@ParameterizedTest
	@ValueSource(classes = { SelfInvocations.Direct.class, SelfInvocations.InALambda.class,
			SelfInvocations.ByReference.class, SelfInvocations.BySubclass.class, SelfInvocations.ByInnerClass.class,
			SelfInvocations.OfAnInterface.class, SelfInvocations.OfAnEvent.class, SelfInvocations.OfASaga.class,
			SelfInvocations.OfAComposedAnnotation.class })
	void findACallOnThis(Class<?> type) {
		assertThat(violations(ANNOTATED_METHODS_ARE_CALLED_THROUGH_THEIR_PROXY, type)).singleElement()
			.asString()
			.contains(type.getName(), "place(java.lang.String)", "IdempotencyArchitectureTests.java:");
	}

	@ParameterizedTest
	@ValueSource(classes = { ProxiedCalls.OfAnotherBean.class, ProxiedCalls.OfTheInjectedProxy.class,
			ProxiedCalls.OfTheOverridden.class, ProxiedCalls.OfAParameter.class, ProxiedCalls.WithoutAnnotation.class })
	void findNoCallThroughAProxy(Class<?> type) {
		assertThat(violations(ANNOTATED_METHODS_ARE_CALLED_THROUGH_THEIR_PROXY, type)).isEmpty();
	}

	@ParameterizedTest
	@ValueSource(classes = { HandmadeClients.OfASaga.class, HandmadeClients.OfATemplate.class,
			HandmadeClients.OfTheJdk.class })
	void findAClientThatASagaCreates(Class<?> type) {
		assertThat(violations(SAGAS_USE_HTTP_CLIENTS_OF_SPRING_BOOT, type)).singleElement()
			.asString()
			.contains(type.getName());
	}

	@ParameterizedTest
	@ValueSource(classes = { HandmadeClients.Gateway.class, HandmadeClients.Bank.class })
	void findAClientThatAStepUses(Class<?> gateway) {
		assertThat(violations(SAGAS_USE_HTTP_CLIENTS_OF_SPRING_BOOT, HandmadeClients.WithGateways.class,
				HandmadeClients.Payments.class, gateway))
			.singleElement()
			.asString()
			.contains(gateway.getName());
	}

	@ParameterizedTest
	@ValueSource(classes = { Injected.class, HandmadeClients.Gateway.class })
	void findNoInjectedClientAndNoneBesideSagas(Class<?> type) {
		assertThat(violations(SAGAS_USE_HTTP_CLIENTS_OF_SPRING_BOOT, type)).isEmpty();
	}

	@ParameterizedTest
	@ValueSource(classes = { HandmadeTools.OfAClient.class, HandmadeTools.OfAProvider.class })
	void findAToolThatIsNoBean(Class<?> type) {
		assertThat(violations(IDEMPOTENT_TOOLS_ARE_BEANS, type, HandmadeTools.Orders.class)).singleElement()
			.asString()
			.contains(type.getName(), "HandmadeTools$Orders");
	}

	@ParameterizedTest
	@ValueSource(classes = { HandmadeTools.Injected.class, HandmadeTools.WithoutAnnotation.class })
	void findNoToolThatIsABeanOrNotIdempotent(Class<?> type) {
		assertThat(violations(IDEMPOTENT_TOOLS_ARE_BEANS, type, HandmadeTools.Orders.class)).isEmpty();
	}

	private static List<String> violations(ArchRule rule, Class<?>... types) {
		Stream<Class<?>> withInner = Stream.of(types)
			.flatMap((type) -> Stream.of(type.getNestMembers())
				.filter((member) -> (member.getName() + "$").startsWith(type.getName() + "$")));
		return rule
			.evaluate(new ClassFileImporter()
				.importClasses(Stream.concat(withInner, Stream.of(Shop.class, Placing.class, Once.class)).toList()))
			.getFailureReport()
			.getDetails();
	}

	static class Shop {

		@Idempotent(key = "#id", name = "place")
		String place(String id) {
			return id;
		}

	}

	@Idempotent(key = "#id", name = "once")
	@interface Once {

	}

	interface Placing {

		@Idempotent(key = "#id", name = "place")
		String place(String id);

	}

	static final class HandmadeTools {

		static class Orders {

			@Tool
			@Idempotent(from = KeySource.TOOL_CALL, window = "15m", name = "place")
			String place(String item) {
				return item;
			}

		}

		static class OfAClient {

			Object ask(ChatClient client) {
				return client.prompt().tools(new Orders());
			}

		}

		static class OfAProvider {

			Object provide() {
				return MethodToolCallbackProvider.builder().toolObjects(new Orders()).build();
			}

		}

		static class Injected {

			Object ask(ChatClient client, Orders orders) {
				return client.prompt().tools(orders);
			}

		}

		static class WithoutAnnotation {

			@Tool
			String find(String item) {
				return item;
			}

			Object ask(ChatClient client) {
				return client.prompt().tools(new WithoutAnnotation());
			}

		}

	}

	static final class SelfInvocations {

		static class Direct extends Shop {

			String both(String id) {
				return place(id);
			}

		}

		static class InALambda {

			@Idempotent(key = "#id", name = "place")
			String place(String id) {
				return id;
			}

			List<String> all(List<String> ids) {
				return ids.stream().map((id) -> place(id)).toList();
			}

		}

		static class ByReference {

			@Idempotent(key = "#id", name = "place")
			String place(String id) {
				return id;
			}

			List<String> all(List<String> ids) {
				return ids.stream().map(this::place).toList();
			}

		}

		static class BySubclass extends Shop {

			String again(String id) {
				return super.place(id);
			}

		}

		static class ByInnerClass extends Shop {

			UnaryOperator<String> placing() {
				return new UnaryOperator<>() {

					@Override
					public String apply(String id) {
						return ByInnerClass.this.place(id);
					}

				};
			}

		}

		static class OfAnInterface implements Placing {

			@Override
			public String place(String id) {
				return id;
			}

			String both(String id) {
				return place(id);
			}

		}

		static class OfAnEvent {

			@TransactionalOutbox(type = "placed")
			String place(String id) {
				return id;
			}

			String both(String id) {
				return place(id);
			}

		}

		static class OfASaga {

			@Saga(key = "#id", name = "place")
			String place(String id) {
				return id;
			}

			String both(String id) {
				return place(id);
			}

		}

		static class OfAComposedAnnotation {

			@Once
			String place(String id) {
				return id;
			}

			String both(String id) {
				return place(id);
			}

		}

	}

	static final class ProxiedCalls {

		static class OfAnotherBean {

			private final Shop shop;

			OfAnotherBean(Shop shop) {
				this.shop = shop;
			}

			String place(String id) {
				return this.shop.place(id);
			}

		}

		static class OfTheInjectedProxy extends Shop {

			private final OfTheInjectedProxy self;

			OfTheInjectedProxy(OfTheInjectedProxy self) {
				this.self = self;
			}

			String both(String id) {
				return this.self.place(id);
			}

		}

		static class OfTheOverridden extends Shop {

			@Override
			@Idempotent(key = "#id", name = "place-here")
			String place(String id) {
				return super.place(id);
			}

		}

		static class OfAParameter extends Shop {

			String at(OfAParameter other, String id) {
				return other.place(id);
			}

		}

		static class WithoutAnnotation {

			String place(String id) {
				return id;
			}

			String both(String id) {
				return place(id);
			}

		}

	}

	static final class HandmadeClients {

		static class OfASaga {

			private final RestClient client = RestClient.create();

			@Saga(key = "#id", name = "place")
			String place(String id) {
				return this.client.toString();
			}

		}

		static class OfATemplate {

			@Saga(key = "#id", name = "place")
			String place(String id) {
				return new RestTemplate().toString();
			}

		}

		static class OfTheJdk {

			@Saga(key = "#id", name = "place")
			String place(String id) {
				return HttpClient.newBuilder().toString();
			}

		}

		static class Gateway {

			private final RestClient client = RestClient.builder().build();

			void charge() {
				this.client.post();
			}

		}

		interface Payments {

			void charge();

		}

		static class Bank implements Payments {

			@Override
			public void charge() {
				HttpClient.newHttpClient();
			}

		}

		static class WithGateways {

			private final SagaSteps saga;

			private final Gateway gateway;

			private final Payments payments;

			WithGateways(SagaSteps saga, Gateway gateway, Payments payments) {
				this.saga = saga;
				this.gateway = gateway;
				this.payments = payments;
			}

			@Saga(key = "#id", name = "place")
			void place(String id) {
				this.saga.step("charge").run(this.gateway::charge);
				this.saga.step("pay").run(() -> this.payments.charge());
			}

		}

	}

	static class Injected {

		private final RestClient client;

		Injected(RestClient.Builder builder) {
			this.client = builder.baseUrl("https://bank.example").build();
		}

		@Saga(key = "#id", name = "place")
		String place(String id) {
			return this.client.toString();
		}

	}

}
