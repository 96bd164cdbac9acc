// What a visitor without a file looks at.
export const EXAMPLE = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: gardens.example.com
spec:
  group: example.com
  scope: Namespaced
  names: {plural: gardens, singular: garden, kind: Garden, shortNames: [gd]}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema:
      openAPIV3Schema:
        description: Garden is a piece of land with beds, in which plants grow.
        type: object
        required: [spec]
        properties:
          spec:
            description: What the garden should be like.
            type: object
            required: [beds]
            properties:
              soil:
                description: The kind of soil. \`loam\` fits most plants.
                type: string
                enum: [loam, clay, sand]
                default: loam
              water:
                description: How the beds are watered.
                type: object
                nullable: true
                properties:
                  litersPerDay: {description: Liters for each bed and day., type: integer, minimum: 0, maximum: 500, default: 20}
                  schedule: {description: When to water, as a cron expression., type: string, maxLength: 64}
              beds:
                description: The beds. Managers can each own beds of their own.
                type: array
                maxItems: 50
                x-kubernetes-list-type: map
                x-kubernetes-list-map-keys: [name]
                items:
                  type: object
                  required: [name, rows]
                  properties:
                    name: {description: The name of the bed., type: string, maxLength: 63, pattern: '^[a-z0-9-]+$'}
                    rows: {description: How many rows it has., type: integer, minimum: 1}
                    planted: {description: How many rows are planted., type: integer, default: 0}
                    gardenerRef:
                      description: Who looks after it.
                      type: object
                      x-kubernetes-map-type: atomic
                      properties:
                        name: {type: string}
                        kind: {type: string, default: Gardener}
                  x-kubernetes-validations:
                  - {rule: self.planted <= self.rows, message: a bed has no more planted rows than rows}
          status:
            description: What the garden is like.
            type: object
            properties:
              ready: {description: Whether everything is planted., type: boolean}
`;
